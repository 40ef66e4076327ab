import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/**
 * A loopback port that was free a moment ago. Another process may take it first, so a caller that starts a
 * server on it must be ready to retry.
 */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
