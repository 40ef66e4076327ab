import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/**
 * A loopback port nobody held a moment ago. Another process may take it before the caller does, so
 * whoever starts a server on it must be ready to ask again.
 */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
