import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy between a worker and its server that forwards everything and records when heartbeats come. */
export interface HeartbeatWatch {
  readonly url: string
  /** The longest time between two heartbeats, including the time since the last one. */
  longestGapMs(): number
  readonly heartbeats: number
  close(): void
}

export async function watchHeartbeats(target: string): Promise<HeartbeatWatch> {
  const { hostname, port } = new URL(target)
  let last: number | undefined
  let longest = 0
  let heartbeats = 0
  const note = () => {
    const now = performance.now()
    if (last !== undefined) longest = Math.max(longest, now - last)
    last = now
    heartbeats += 1
  }
  const server = createServer((asked, answer) => {
    if (asked.url?.endsWith('/heartbeat')) note()
    const { method, url: path, headers } = asked
    const passed = request({ hostname, port, method, path, headers }, (given) => {
      answer.writeHead(given.statusCode ?? 502, given.headers)
      given.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    answer.on('close', () => passed.destroy())
    asked.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get heartbeats() {
      return heartbeats
    },
    longestGapMs: () => Math.max(longest, last === undefined ? 0 : performance.now() - last),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
