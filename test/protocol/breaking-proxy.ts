import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

/** A fault on the way of a request: it arrives and its answer is lost, or it never arrives. */
export type ProxyFault = 'lose answer' | 'lose request'

export interface BreakingProxy {
  readonly url: string
  /** How often each fault occurred, by the last word of the path. */
  readonly struck: Map<string, number>
  close(): Promise<void>
}

/** A proxy to a server that breaks chosen requests. */
export async function startBreakingProxy(
  target: string,
  fault: (path: string, nth: number) => ProxyFault | undefined,
): Promise<BreakingProxy> {
  const struck = new Map<string, number>()
  const seen = new Map<string, number>()
  const server = createServer((incoming, outgoing) => {
    const word = (incoming.url ?? '').split('/').at(-1) ?? ''
    const nth = (seen.get(word) ?? 0) + 1
    seen.set(word, nth)
    const what = fault(word, nth)
    if (what !== undefined)
      struck.set(`${what}: ${word}`, (struck.get(`${what}: ${word}`) ?? 0) + 1)
    if (what === 'lose request') incoming.socket.destroy()
    else forward(target, incoming, outgoing, what === 'lose answer')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    struck,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function forward(
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  isLost: boolean,
): void {
  const { host } = new URL(target)
  const options = { method: incoming.method, headers: { ...incoming.headers, host } }
  const onward = request(new URL(incoming.url ?? '/', target), options, (answer) => {
    if (isLost) {
      answer.resume()
      incoming.socket.destroy()
      return
    }
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(outgoing)
  })
  onward.on('error', () => incoming.socket.destroy())
  incoming.pipe(onward)
}
