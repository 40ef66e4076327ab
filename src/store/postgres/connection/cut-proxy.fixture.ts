import { once } from 'node:events'
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'

/**
 * What happens to bytes sent to the server. `mute`: nothing passes any more, and neither side
 * notices.
 */
export type CutAction = 'pass' | 'cut before' | 'cut after' | 'mute'

export interface CutProxy {
  /** The database's address, through the proxy. */
  readonly url: string
  /** Decides about everything clients send from now on. */
  watch(decide: (sent: Buffer) => CutAction): void
  close(): Promise<void>
}

/** A link that can be cut at a chosen byte: between a request and its answer, for example. */
export async function startCutProxy(databaseUrl: string): Promise<CutProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let decide: (sent: Buffer) => CutAction = () => 'pass'

  const server = createServer((client) => {
    const upstream = createConnection(Number(target.port), target.hostname)
    const end = () => {
      client.destroy()
      // The server still receives what was written, and an orderly end after it.
      upstream.end()
    }
    let isMute = false
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', end).on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
    client.on('data', (sent) => {
      const action = decide(sent)
      isMute ||= action === 'mute'
      if (isMute) return
      if (action !== 'cut before') upstream.write(sent)
      if (action !== 'pass') end()
    })
    upstream.on('data', (answer) => {
      if (!isMute && !client.destroyed) client.write(answer)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    watch(next) {
      decide = next
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
