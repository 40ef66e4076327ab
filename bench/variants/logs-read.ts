import type { WireLog, WireLogSearch } from '../../src/core/wire/views.ts'
import { startChild } from '../harness/child.ts'
import { quantile } from '../harness/statistics.ts'
import { measureAndExit, readVariantSettings, verify } from '../harness/variant-process.ts'
import { RARE_ERROR_PATTERN, NEEDLE } from '../load/generated-output.ts'

export interface ReadSettings {
  readonly store: string
  readonly middle: { readonly id: string; readonly lines: number }
  readonly long: { readonly id: string; readonly lines: number }
  readonly samples: number
}

const PAGE = 500
const FIRST_PAGES = 20

/** Measures how long a client waits for a part of a long log, over HTTP. */
measureAndExit(async () => {
  const { store, middle, long, samples } = readVariantSettings() as ReadSettings
  const server = startChild('punctual-server.ts', { store })
  const { url, token } = (await server.nextMessage('ready')) as unknown as {
    url: string
    token: string
  }
  const headers = { authorization: `Bearer ${token}` }
  const get = async <T>(path: string): Promise<T> => {
    const answer = await fetch(url + path, { headers })
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
    return (await answer.json()) as T
  }
  const timed = async <T>(act: () => Promise<T>) => {
    const startedMs = performance.now()
    const value = await act()
    return { value, ms: performance.now() - startedMs }
  }
  await get(`/v1/runs/${middle.id}`)

  const firsts: number[] = []
  for (let sample = 0; sample < FIRST_PAGES; sample += 1) {
    const { value, ms } = await timed(() =>
      get<WireLog>(`/v1/runs/${middle.id}/logs?limit=${PAGE}`),
    )
    verify('lines of the first page', PAGE, value.lines.length)
    firsts.push(ms)
  }

  const seeks: number[] = []
  for (let sample = 0; sample < samples; sample += 1) {
    const line = Math.floor(((sample * 0.618_033_988_749) % 1) * (long.lines - PAGE))
    const path = `/v1/runs/${long.id}/logs?from_line=${line}&limit=${PAGE}`
    const { value, ms } = await timed(() => get<WireLog>(path))
    verify('the line sought', line, value.lines[0]?.line ?? -1)
    seeks.push(ms)
  }

  /** Requests page after page until a line is found or the whole log was searched. */
  const find = async (query: Record<string, string>) => {
    for (let from = 0; ;) {
      const parameters = new URLSearchParams({ ...query, limit: '1', from_line: String(from) })
      const path = `/v1/runs/${long.id}/logs/search?${parameters.toString()}`
      const { hits, next_line, complete } = await get<WireLogSearch>(path)
      if (hits.length > 0 || complete) return hits.length
      from = next_line
    }
  }
  // Not measured: the first search makes the server start its search thread.
  await find({ q: 'request 7 ' })
  const literal = await timed(() => find({ q: NEEDLE }))
  const regex = await timed(() => find({ q: RARE_ERROR_PATTERN, mode: 'regex' }))
  verify('lines found', 2, literal.value + regex.value)

  let isSearching = true
  const lags: number[] = []
  const probe = async () => {
    while (isSearching) lags.push((await timed(() => get('/livez'))).ms)
  }
  const probing = probe()
  const all = await timed(() => find({ q: '[A-Z]{9}|Q.Q', mode: 'regex' }))
  isSearching = false
  await probing
  await server.stop()
  return {
    firstPageMs: quantile(firsts, 0.5),
    seekMs: quantile(seeks, 0.5),
    seekP99Ms: quantile(seeks, 0.99),
    literalMs: literal.ms,
    regexMs: regex.ms,
    everythingMs: all.ms,
    lagP99Ms: quantile(lags, 0.99),
  }
})
