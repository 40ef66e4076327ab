import { once } from 'node:events'
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'
import { createFrontendMessages } from './frontend-messages.ts'

/** A wire to PostgreSQL that breaks when it is told to. */
export interface TcpProxy {
  /** The database's address, through the proxy. */
  readonly url: string
  /**
   * Waits for a commit of the wanted kind and cuts its connection as soon as the server has been
   * told: it commits, and nobody hears of it. Resolves with what it was.
   */
  cutAfterCommit(isWanted?: (what: string) => boolean): Promise<string>
  /** Cuts every connection, wherever it is. */
  cutAll(): void
  /** Nothing passes in either direction, and nobody is told. */
  stall(): void
  flow(): void
  close(): Promise<void>
}

export async function startTcpProxy(databaseUrl: string): Promise<TcpProxy> {
  const target = new URL(databaseUrl)
  const links = new Set<Link>()
  const traps = new Set<Trap>()
  let isStalled = false

  const spring = (what: string): boolean => {
    const trap = [...traps].find(({ isWanted }) => isWanted(what))
    if (!trap) return false
    traps.delete(trap)
    trap.resolve(what)
    return true
  }

  const server = createServer((client) => {
    const link = createLink(client, Number(target.port), target.hostname, spring)
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
    flow() {
      isStalled = false
      for (const link of links) link.flow()
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
  flow(): void
}

/** `isDoomed` is asked about every commit: is this the one after which the wire breaks? */
function createLink(
  client: Socket,
  port: number,
  host: string,
  isDoomed: (what: string) => boolean,
): Link {
  const upstream = createConnection(port, host)
  const messages = createFrontendMessages()
  const cut = () => {
    client.destroy()
    // What was written still arrives, with an orderly end behind it. Resetting this side instead
    // could make the server drop a message that it has received and not yet read.
    upstream.end()
    upstream.resume()
  }
  for (const socket of [client, upstream]) socket.on('error', cut).on('close', cut)

  client.on('data', (bytes) => {
    const commit = messages.findCommit(bytes)
    const isCut = commit !== undefined && isDoomed(commit.what)
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
    flow() {
      client.resume()
      upstream.resume()
    },
  }
}
