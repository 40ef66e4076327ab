import { once } from 'node:events'
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'
import { createFrontendMessages } from './frontend-messages.ts'

/** A proxy in front of PostgreSQL that cuts or stalls connections on request. */
export interface TcpProxy {
  /** The database's address, through the proxy. */
  readonly url: string
  /**
   * Waits for a wanted commit and cuts its connection once the server has received it: the server commits, and
   * the client gets no answer. Resolves with the statement.
   */
  cutAfterCommit(isWanted?: (what: string) => boolean): Promise<string>
  /** Cuts every connection at once. */
  cutAll(): void
  /** Nothing passes in either direction, without any error. */
  stall(): void
  resume(): void
  close(): Promise<void>
}

export async function startTcpProxy(databaseUrl: string): Promise<TcpProxy> {
  const target = new URL(databaseUrl)
  const links = new Set<Link>()
  const traps = new Set<Trap>()
  let isStalled = false

  const triggerCut = (what: string): boolean => {
    const trap = [...traps].find(({ isWanted }) => isWanted(what))
    if (!trap) return false
    traps.delete(trap)
    trap.resolve(what)
    return true
  }

  const server = createServer((client) => {
    const link = createLink(client, Number(target.port), target.hostname, triggerCut)
    links.add(link)
    if (isStalled) link.stall()
    client.once('close', () => links.delete(link))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.port = String((server.address() as AddressInfo).port)

  return {
    url: url.href,
    cutAfterCommit: (isWanted = () => true) =>
      new Promise((resolve) => traps.add({ isWanted, resolve })),
    cutAll() {
      for (const link of links) link.cut()
    },
    stall() {
      isStalled = true
      for (const link of links) link.stall()
    },
    resume() {
      isStalled = false
      for (const link of links) link.resume()
    },
    async close() {
      for (const link of links) link.cut()
      server.close()
      await once(server, 'close')
    },
  }
}

interface Trap {
  isWanted(what: string): boolean
  resolve(what: string): void
}

interface Link {
  cut(): void
  stall(): void
  resume(): void
}

/** `isCutPoint` is asked at every commit whether the connection is to be cut after it. */
function createLink(
  client: Socket,
  port: number,
  host: string,
  isCutPoint: (what: string) => boolean,
): Link {
  const upstream = createConnection(port, host)
  const messages = createFrontendMessages()
  const cut = () => {
    client.destroy()
    // Bytes already written still arrive, followed by an orderly end. A reset instead could make the server
    // drop a message that it has received and not yet read.
    upstream.end()
    upstream.resume()
  }
  for (const socket of [client, upstream]) socket.on('error', cut).on('close', cut)

  client.on('data', (bytes) => {
    const commit = messages.findCommit(bytes)
    const isCut = commit !== undefined && isCutPoint(commit.what)
    upstream.write(isCut ? bytes.subarray(0, commit.length) : bytes)
    if (isCut) cut()
  })
  upstream.on('data', (bytes) => {
    if (!client.destroyed) client.write(bytes)
  })
  return {
    cut,
    stall() {
      client.pause()
      upstream.pause()
    },
    resume() {
      client.resume()
      upstream.resume()
    },
  }
}
