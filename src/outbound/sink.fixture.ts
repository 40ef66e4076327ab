import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** A loopback server that counts its connections and requests. */
export async function openSink(
  t: TestContext,
  answer: RequestListener = (_request, response) => response.end('hello'),
  host = '127.0.0.1',
) {
  const requests: IncomingMessage[] = []
  let connections = 0
  const server = createServer((request, response) => {
    requests.push(request)
    answer(request, response)
  })
  server.on('connection', () => void (connections += 1))
  server.listen(0, host)
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const at = host.includes(':') ? `[${host}]` : host
  return {
    port,
    url: `http://${at}:${port}`,
    allow: `${at}:${port}`,
    requests,
    connections: () => connections,
  }
}
