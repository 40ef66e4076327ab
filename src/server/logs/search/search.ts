import type { Clock } from '../../../core/clock.ts'
import { publicId } from '../../../core/ids.ts'
import type { WireLogHit, WireLogSearch } from '../../../core/wire/views.ts'
import { formatTime } from '../../../core/wire/runs.ts'
import type { LogStore, StoredChunk } from '../../../store/port.ts'
import { STREAMS } from '../log-lines.ts'
import type { LoggedAttempt, LogReader } from '../log-reader.ts'
import type { LogQuery } from './pattern.ts'
import type { Hit, OpenLine } from './scan.ts'
import { createLeftOpen, type LeftOpen } from './left-open.ts'
import { createSearchThread } from './thread.ts'

/** After this time a page ends with its hits so far; the next page continues from there. */
const PAGE_MS = 2_000
/**
 * Maximum number of chunks read and searched at once: some hundred kilobytes at first, then a
 * megabyte.
 */
const MOST_CHUNKS = 6
/** Filters checked in one query. */
const FILTERS_PER_QUERY = 1_024

export interface SearchOptions {
  readonly query: LogQuery
  readonly from: number
  readonly limit: number
}

export interface LogSearch {
  /** Matching lines from a number on, in order. */
  search(
    attempt: LoggedAttempt,
    options: SearchOptions,
    signal: AbortSignal,
  ): Promise<WireLogSearch>
}

export function createLogSearch({
  store,
  reader,
  clock,
}: {
  readonly store: LogStore
  readonly reader: Pick<LogReader, 'chunkOf'>
  readonly clock: Clock
}): LogSearch {
  const thread = createSearchThread(clock)
  const left = createLeftOpen()

  /** The next chunks from a number on that may match. */
  const nextChunks = async (
    { runId, fence }: LoggedAttempt,
    { from, to, bits, limit }: { from: number; to: number; bits: readonly number[]; limit: number },
  ): Promise<{ rows: readonly StoredChunk[]; next: number }> => {
    const read = (first: number, count: number) =>
      store.logChunks({ runId, fence, from: first, limit: Math.min(count, to - first) })
    if (bits.length === 0) return { rows: await read(from, limit), next: from + limit }
    const until = Math.min(to, from + FILTERS_PER_QUERY)
    const [first, ...others] = await store.chunksLike({ runId, fence, from, to: until, bits })
    if (first === undefined) return { rows: [], next: until }
    // Neighbouring chunks are read together; chunks between two others are not read.
    const gap = others.findIndex((chunk, index) => chunk !== first + index + 1)
    const count = Math.min(limit, 1 + (gap < 0 ? others.length : gap))
    return { rows: await read(first, count), next: first + count }
  }

  return {
    async search(attempt, { query, from, limit }, signal) {
      // Loaded by the first search, so that a server without searches saves the memory.
      const { filterBitsOf: bitsOf, createMatcher } = await import('./pattern.ts')
      // Also here and not only in the thread, so that an invalid pattern is refused before anything
      // is read.
      createMatcher(query)
      const bits = bitsOf(query)
      const { runId, fence, end } = attempt
      const stored = await store.logEnd({ runId, fence })
      const untilMono = clock.mono() + PAGE_MS
      const hits: Hit[] = []
      const before = left.find([runId, fence, query, from])
      let chunk = before?.chunk ?? Math.min(await reader.chunkOf(attempt, from), stored.chunks)
      let open: readonly OpenLine[] = before?.open ?? []
      let nextLine = from
      let count = 1

      const scan = async (
        chunks: readonly { firstLine: number; packed: Uint8Array }[],
        isEnd = false,
      ) => {
        const span = { from, limit: limit - hits.length }
        const report = await thread.scan({ query, span, open, chunks, isEnd })
        hits.push(...report.hits)
        ;({ open, nextLine } = report)
        return report.last
      }
      const show = (next: number, isComplete: boolean): WireLogSearch => ({
        run: publicId('run', runId),
        attempt: attempt.attempt,
        hits: hits.map((hit) => showHit(hit, attempt.startedAt)),
        next_line: next,
        complete: isComplete,
      })
      /** Ends a page before the end of the log. */
      const leave = (next: number, state: LeftOpen): WireLogSearch => {
        if (state.open.length > 0) left.keep([runId, fence, query, next], state)
        return show(next, false)
      }
      const isFull = () => hits.length >= limit
      // Text after the last hit in its chunk belongs to the next page, with the lines that were
      // open before it.
      const leaveFull = (state: LeftOpen) => leave((hits.at(-1) as Hit).line + 1, state)

      while (chunk < stored.chunks) {
        if (signal.aborted) return show(nextLine, false)
        // If no line has ended yet, the next page would begin like this one.
        const isPage = open.length === 0 || nextLine > from
        if (isPage && clock.mono() > untilMono) return leave(nextLine, { open, chunk })
        // An open line continues in the next chunk, whatever else that contains.
        const wanted = open.length > 0 ? [] : bits
        const range = { from: chunk, to: stored.chunks, bits: wanted, limit: count }
        const { rows, next } = await nextChunks(attempt, range)
        if (rows.length > 0) {
          const searched = await scan(rows)
          const reached = rows[searched.nth] as StoredChunk
          if (isFull()) return leaveFull({ open: searched.open, chunk: reached.chunk })
        } else nextLine = await lineAt(attempt, next, stored)
        chunk = next
        // The rest of a line that is too long may be thousands of chunks.
        if (open.length > 0 && open.every(({ isDone }) => isDone)) {
          chunk = (await store.findLine({ runId, fence, line: nextLine })) ?? stored.chunks
          chunk = Math.max(chunk, next)
        }
        count = Math.min(2 * count, MOST_CHUNKS)
      }

      const last = end?.output?.last
      const packed = Buffer.from(JSON.stringify(last ?? []))
      const searched = await scan([{ firstLine: stored.lines, packed }], end !== undefined)
      if (isFull()) return leaveFull({ open: searched.open, chunk: stored.chunks })
      if (end === undefined) return leave(nextLine, { open, chunk: stored.chunks })
      return show(nextLine, true)
    },
  }

  /** The number of the first line that begins in a chunk or after it. */
  async function lineAt(
    { runId, fence }: LoggedAttempt,
    chunk: number,
    stored: { readonly chunks: number; readonly lines: number },
  ): Promise<number> {
    if (chunk >= stored.chunks) return stored.lines
    const [row] = await store.logChunks({ runId, fence, from: chunk, limit: 1 })
    return row?.firstLine ?? stored.lines
  }
}

function showHit(hit: Hit, startedAt: number): WireLogHit {
  const { line, ms, stream, column, length, text, textColumn } = hit
  return {
    line,
    at: formatTime(startedAt + ms, 'at'),
    stream: STREAMS[stream],
    column,
    length,
    text,
    text_column: textColumn,
  }
}
