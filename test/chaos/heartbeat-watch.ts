import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Stands between a worker and its server, passes everything on, and notes when heartbeats come. */
export interface BeatWatch {
  readonly url: string
  /** The longest time between two heartbeats, the one that is still to come included. */
  longestGapMs(): number
  readonly beats: number
  close(): void
}

export async function watchBeats(target: string): Promise<BeatWatch> {
  const { hostname, port } = new URL(target)
  let last: number | undefined
  let longest = 0
  let beats = 0
  const note = () => {
    const now = performance.now()
    if (last !== undefined) longest = Math.max(longest, now - last)
    last = now
    beats += 1
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
    get beats() {
      return beats
    },
    longestGapMs: () => Math.max(longest, last === undefined ? 0 : performance.now() - last),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
