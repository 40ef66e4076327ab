import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../../core/clock.ts'
import type { OutputEntry } from '../../../core/run/output.ts'
import { createLogReader, type LoggedAttempt } from '../log-reader.ts'
import { createLogSearch } from './search.ts'

/**
 * A log of these chunks, a count of chunk reads, and a clock by which a page is due after two
 * reads.
 */
function setUp(given: readonly (readonly OutputEntry[])[], onRead = () => {}) {
  const chunks: (readonly OutputEntry[])[] = []
  const firstLines: number[] = []
  let lines = 0
  const print = (...entries: readonly OutputEntry[]) => {
    chunks.push(entries)
    firstLines.push(lines)
    lines += entries.reduce((sum, [, , text]) => sum + text.split('\n').length - 1, 0)
  }
  for (const entries of given) print(...entries)
  const reads: number[] = []
  const store = {
    async logChunks({ from, limit }: { from: number; limit: number }) {
      return chunks.slice(from, from + limit).map((entries, nth) => {
        reads.push(from + nth)
        onRead()
        const packed = Buffer.from(JSON.stringify(entries))
        return { chunk: from + nth, firstLine: firstLines[from + nth], packed }
      })
    },
    logEnd: async () => ({ chunks: chunks.length, lines }),
    async findLine({ line }: { line: number }) {
      const found = firstLines.findIndex((_, nth) => (firstLines[nth + 1] ?? lines) > line)
      return found < 0 ? null : found
    },
    chunksLike: async ({ from, to }: { from: number; to: number }) =>
      Array.from({ length: to - from }, (_, nth) => from + nth),
  }
  let now = 0
  const clock = {
    mono: () => (now += 900),
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((done) => signal?.addEventListener('abort', () => done())),
  } as unknown as Clock
  const reader = createLogReader(store as never, clock)
  const logs = createLogSearch({ store: store as never, reader, clock })
  const attempt: LoggedAttempt = { runId: 1, attempt: 1, fence: 7, startedAt: 0, end: null }
  const page = (from: number, { signal = NEVER, limit = 10, ...state }: PageOptions = {}) =>
    logs.search({ ...attempt, ...state }, { query: QUERY, from, limit }, signal)
  return { reads, page, print }
}
type PageOptions = Partial<Pick<LoggedAttempt, 'end'>> & { signal?: AbortSignal; limit?: number }

const NEVER = new AbortController().signal
const QUERY = { text: 'needle here', mode: 'literal', ignoresCase: false } as const
const OPEN: OutputEntry = [1, 1, 'a nee']
const NOISE: OutputEntry = [2, 2, 'noise\n'.repeat(10)]
const CLOSED: OutputEntry = [3, 1, 'dle here\n']

test('a page ends in time although a line is open, and the next ones find it', async () => {
  const { reads, page } = setUp([[OPEN], ...Array.from({ length: 20 }, () => [NOISE]), [CLOSED]])
  const hits = []
  let from = 0
  let pages = 0
  for (let isComplete = false; !isComplete; pages += 1) {
    const before = reads.length
    const found = await page(from)
    assert.ok(reads.length - before <= 8, `${reads.length - before} chunks for one page`)
    hits.push(...found.hits)
    assert.ok(found.complete || found.next_line > from, 'each page gets on')
    from = found.next_line
    isComplete = found.complete
    assert.ok(pages < 100)
  }
  assert.ok(pages > 3)
  assert.deepEqual(
    hits.map(({ line, stream, text }) => [line, stream, text]),
    [[200, 'stdout', 'a needle here']],
  )
})

test('after a disconnect nothing more is read', async () => {
  const left = new AbortController()
  const chunks = [[OPEN], ...Array.from({ length: 20 }, () => [NOISE]), [CLOSED]]
  const { reads, page } = setUp(chunks, () => left.abort())
  await page(0, { signal: left.signal })
  assert.deepEqual(reads, [0])
})

test('a line longer than a whole page is searched to its end', async () => {
  const part: OutputEntry = [1, 1, 'x'.repeat(1_000)]
  const { page } = setUp([...Array.from({ length: 40 }, () => [part]), [OPEN], [CLOSED]])
  const { hits } = await page(0)
  assert.deepEqual(
    hits.map(({ line }) => line),
    [0],
  )
})

/** All hits of all pages, with this many hits per page. */
async function walk(
  { page }: Pick<ReturnType<typeof setUp>, 'page'>,
  options: PageOptions,
): Promise<[line: number, stream: string][]> {
  const found: [number, string][] = []
  for (let from = 0; ;) {
    const { hits, next_line, complete } = await page(from, options)
    found.push(...hits.map(({ line, stream }): [number, string] => [line, stream]))
    if (complete) return found
    assert.ok(next_line > from, 'each page gets on')
    from = next_line
  }
}

const FOUND: OutputEntry = [2, 2, 'needle here\n'.repeat(4)]
const FULL_PAGES: [
  where: string,
  chunks: (readonly OutputEntry[])[],
  last: readonly OutputEntry[],
][] = [
  ['in the next chunk', [[OPEN], [FOUND], [CLOSED]], []],
  ['a few chunks later', [[OPEN], [NOISE], [NOISE], [FOUND], [NOISE], [CLOSED]], []],
  ['in the chunk it begins in', [[OPEN, FOUND], [CLOSED]], []],
  ['in the chunk it ends in', [[OPEN], [FOUND, CLOSED, FOUND]], []],
  ['in the last chunk', [[NOISE], [OPEN]], [FOUND, CLOSED]],
  ['before the end that closes nothing', [[[1, 1, 'a needle here']], [FOUND]], []],
]
for (const [where, chunks, last] of FULL_PAGES) {
  test(`a line that is open when a page is full is found on a later one: full ${where}`, async () => {
    const end = { output: { chunks: chunks.length + 1, bytes: 1, last } }
    const all = await walk(setUp(chunks), { end, limit: 100 })
    assert.ok(all.some(([, stream]) => stream === 'stdout'))
    for (const limit of [1, 4]) {
      assert.deepEqual(await walk(setUp(chunks), { end, limit }), all, `${limit} at a time`)
    }
  })
}

test('a line that is still being printed is found once it is complete', async () => {
  const { page, print } = setUp([[OPEN], [NOISE]])
  const early = await page(0, { end: undefined })
  assert.deepEqual([early.hits, early.next_line, early.complete], [[], 10, false])
  const still = await page(10, { end: undefined })
  assert.deepEqual([still.hits, still.next_line, still.complete], [[], 10, false])
  print(NOISE, CLOSED)
  const { hits, complete } = await page(10)
  assert.deepEqual(
    hits.map(({ line, text }) => [line, text]),
    [[20, 'a needle here']],
  )
  assert.equal(complete, true)
})
