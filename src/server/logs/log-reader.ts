import { PunctualError } from '../../core/errors.ts'
import { publicId } from '../../core/ids.ts'
import type { OutputEntry, ProcessEnd } from '../../core/run/output.ts'
import { isFinal } from '../../core/run/run-state.ts'
import type { WireLog, WireLogLine } from '../../core/wire/views.ts'
import type { LogStore, RunQueries, RunRecord } from '../../store/port.ts'
import type { Clock } from '../../core/clock.ts'
import { entriesOf, ofEntries, printedBytes, unpackInBackground } from './chunk-pack.ts'
import {
  countLines,
  MAX_LINE_LENGTH,
  LinePage,
  type LinePiece,
  MAX_PAGE_LENGTH,
  piecesOf,
} from './log-lines.ts'
import { createConcurrencyLimit } from '../loops/concurrency-limit.ts'
import { createLoopBudget, type LoopBudget } from '../loops/loop-budget.ts'

/**
 * Maximum number of chunks read at once: first one, which is usually enough, then up to some two
 * megabytes.
 */
const MOST_CHUNKS = 8
/** How many streams read at once; other work of the node runs in between. */
const STREAMS_AT_ONCE = 2
/** Number of final chunks searched for the last lines, which may be a single unfinished one. */
const TAIL_CHUNKS = 64

/** One attempt of a run, with what its log needs. */
export interface LoggedAttempt {
  readonly runId: number
  readonly attempt: number
  readonly fence: number
  readonly startedAt: number
  /** Set once the attempt has ended; without output if it printed nothing, or was lost. */
  readonly end: ProcessEnd | null | undefined
}

export interface LogReader {
  /** The requested attempt, or the latest. */
  find(run: RunRecord, attempt: number | undefined): Promise<LoggedAttempt | null>
  /** Lines from a number on. */
  read(attempt: LoggedAttempt, from: number, limit: number): Promise<WireLog>
  /** A page as JSON, written in slices. */
  write(log: WireLog): Promise<string>
  /** The last lines. */
  tail(attempt: LoggedAttempt, count: number): Promise<WireLog>
  /**
   * A chunk by its number, including the last one, which came with the end; null if it is not
   * there.
   */
  chunk(attempt: LoggedAttempt, chunk: number): Promise<readonly OutputEntry[] | null>
  /** The complete output as it was printed. */
  raw(attempt: LoggedAttempt): AsyncGenerator<Buffer>
  /** The number of the chunk in which a line begins, or of the one before it. */
  chunkOf(attempt: LoggedAttempt, line: number): Promise<number>
}

/** Lines that are assembled or written at a stretch. */
const SLICE_LINES = 500

/** What reading a page needs. */
interface PageReading {
  readonly store: LogStore
  readonly budget: LoopBudget
}

interface Piece {
  readonly firstLine: number
  readonly entries: readonly OutputEntry[]
}

export function createLogReader(
  store: LogStore & Pick<RunQueries, 'attemptsOf'>,
  clock: Pick<Clock, 'mono' | 'sleep'>,
): LogReader {
  const budget = createLoopBudget(clock)
  const takeTurn = createConcurrencyLimit(STREAMS_AT_ONCE)

  const chunkOf = async (attempt: LoggedAttempt, line: number): Promise<number> => {
    const { runId, fence } = attempt
    if (line === 0) return 0
    // The end of the previous line: this line may begin right there and end much later.
    const found = await store.findLine({ runId, fence, line: line - 1 })
    return found ?? (await store.logEnd({ runId, fence })).chunks
  }

  return {
    chunkOf,
    find: (run, attempt) => findAttempt(run, attempt, store),
    tail: (attempt, count) => readTail(attempt, count, { store, budget }),
    write: (log) => writeLog(log, budget),

    async read(attempt, from, limit) {
      const { runId, fence, startedAt } = attempt
      const page = new LinePage(limit)
      let next = from
      // The rest of a line too long to be shown may be thousands of chunks.
      const skipTo = async () => {
        const line = page.cutLine
        if (line === undefined || line !== next) return undefined
        return (
          (await store.findLine({ runId, fence, line })) ??
          (await store.logEnd({ runId, fence })).chunks
        )
      }
      const start = await chunkOf(attempt, from)
      const pieces = piecesFrom(attempt, start, skipTo, { store, budget })
      for await (const { firstLine, entries } of pieces) {
        const beyond = await fill(page, piecesOf(entries, firstLine), { from, budget })
        if (beyond !== undefined) {
          const lines = await shownLines(page, startedAt, budget)
          return showLog({ ...attempt, end: undefined }, lines, beyond)
        }
        next = Math.max(next, firstLine + countLines(entries))
      }
      return showLog(attempt, await shownLines(page, startedAt, budget), next)
    },

    async chunk(attempt, number) {
      const { runId, fence, end } = attempt
      const last = end?.output?.last
      if (last && number === (end.output?.chunks ?? 0) - 1) return last
      const [row] = await takeTurn(() => store.logChunks({ runId, fence, from: number, limit: 1 }))
      return row?.chunk === number ? entriesOf(await unpackInBackground(row.packed)) : null
    },

    async *raw(attempt) {
      const { runId, fence } = attempt
      for (let from = 0; ; from += 1) {
        const [row] = await takeTurn(() => store.logChunks({ runId, fence, from, limit: 1 }))
        if (!row) break
        yield printedBytes(await unpackInBackground(row.packed))
      }
      const last = attempt.end?.output?.last
      if (last) yield printedBytes(ofEntries(last))
    },
  }
}

async function findAttempt(
  run: RunRecord,
  wanted: number | undefined,
  store: Pick<RunQueries, 'attemptsOf'>,
): Promise<LoggedAttempt | null> {
  if (wanted !== undefined && wanted > run.attempt) return null
  if (wanted === undefined || wanted === run.attempt) {
    if (run.fence === null || run.startedAt === null) return null
    const { id: runId, attempt, fence, startedAt } = run
    const end = isFinal(run.state) ? readEnd(run.process) : undefined
    return { runId, attempt, fence, startedAt, end }
  }
  const earlier = await store.attemptsOf({ runId: run.id })
  const found = earlier.find(({ attempt }) => attempt === wanted)
  if (!found) return null
  const { attempt, fence, startedAt } = found
  return { runId: run.id, attempt, fence, startedAt, end: readEnd(found.process) }
}

async function readTail(
  attempt: LoggedAttempt,
  count: number,
  { store, budget }: PageReading,
): Promise<WireLog> {
  const { runId, fence } = attempt
  const end = await store.logEnd({ runId, fence })
  const last = attempt.end?.output?.last ?? []
  const parts: LinePiece[][] = [[...piecesOf(last, end.lines)]]
  const next = end.lines + countLines(last)
  // Backwards and only as far as necessary: the end of a long log is found as fast as that of a
  // short one.
  const least = Math.max(0, end.chunks - TAIL_CHUNKS)
  for (let chunk = end.chunks - 1, from = end.lines; chunk >= least; chunk -= 1) {
    // One more line, so that the first requested one is complete.
    if (from < next - count) break
    const [row] = await store.logChunks({ runId, fence, from: chunk, limit: 1 })
    if (!row) break
    from = row.firstLine
    const unpacked = await unpackInBackground(row.packed)
    const { firstLine } = row
    parts.push(await budget.run(() => [...piecesOf(entriesOf(unpacked), firstLine)]))
  }
  const found = parts.toReversed().flat()
  const first = firstOfLast(found, count)
  const page = new LinePage(count)
  for (const piece of found) if (piece.line >= first && !page.add(piece)) break
  return showLog(attempt, await shownLines(page, attempt.startedAt, budget), next)
}

/**
 * Chunks in order, including the last one, which came with the end. After each chunk `skipTo` may
 * name the next one needed.
 */
async function* piecesFrom(
  attempt: LoggedAttempt,
  from: number,
  skipTo: () => Promise<number | undefined>,
  { store, budget }: PageReading,
): AsyncGenerator<Piece> {
  const { runId, fence } = attempt
  let limit = 1
  let chunk = from
  for (;;) {
    const rows = await store.logChunks({ runId, fence, from: chunk, limit })
    chunk += rows.length
    let later: number | undefined
    for (const { chunk: number, firstLine, packed } of rows) {
      const unpacked = await unpackInBackground(packed)
      yield { firstLine, entries: await budget.run(() => entriesOf(unpacked)) }
      later = await skipTo()
      if (later !== undefined && later > number) break
    }
    if (later !== undefined) chunk = later
    else if (rows.length < limit) break
    limit = Math.min(2 * limit, MOST_CHUNKS)
  }
  const last = attempt.end?.output?.last
  if (!last) return
  const { lines } = await store.logEnd({ runId, fence })
  yield { firstLine: lines, entries: last }
}

/** Adds lines from a number on, in slices. Returns the number of the first line that does not fit. */
async function fill(
  page: LinePage,
  pieces: Iterator<LinePiece>,
  { from, budget }: { from: number; budget: LoopBudget },
): Promise<number | undefined> {
  for (;;) {
    const outcome = await budget.run(() => fillSlice(page, pieces, from))
    if (outcome !== 'more') return outcome
  }
}

function fillSlice(
  page: LinePage,
  pieces: Iterator<LinePiece>,
  from: number,
): number | 'more' | undefined {
  for (let added = 0; added < SLICE_LINES; added += 1) {
    const { done, value: piece } = pieces.next()
    if (done) return undefined
    if (piece.line >= from && !page.add(piece)) return piece.line
  }
  return 'more'
}

async function shownLines(
  page: LinePage,
  startedAt: number,
  budget: LoopBudget,
): Promise<WireLogLine[]> {
  const shown: WireLogLine[] = []
  for (let from = 0; from < page.length; from += SLICE_LINES) {
    shown.push(...(await budget.run(() => page.shown(startedAt, from, from + SLICE_LINES))))
  }
  return shown
}

async function writeLog({ lines, ...rest }: WireLog, budget: LoopBudget): Promise<string> {
  const written: string[] = []
  for (let from = 0; from < lines.length; from += SLICE_LINES) {
    const slice = lines.slice(from, from + SLICE_LINES)
    written.push(await budget.run(() => slice.map((line) => JSON.stringify(line)).join()))
  }
  return `{"lines":[${written.join()}],${JSON.stringify(rest).slice(1)}`
}

function showLog(attempt: LoggedAttempt, lines: readonly WireLogLine[], next: number): WireLog {
  return {
    run: publicId('run', attempt.runId),
    attempt: attempt.attempt,
    lines,
    next_line: next,
    complete: attempt.end !== undefined,
    dropped: attempt.end?.output?.dropped ?? 0,
  }
}

/** The number of the first of the last lines; fewer lines if they are long. */
function firstOfLast(pieces: readonly LinePiece[], count: number): number {
  const lengths = new Map<number, number>()
  for (const { line, text } of pieces) lengths.set(line, (lengths.get(line) ?? 0) + text.length)
  const lines = [...lengths.keys()].slice(-count)
  let remaining = MAX_PAGE_LENGTH
  const isBeyond = (line: number) =>
    (remaining -= Math.min(lengths.get(line)!, MAX_LINE_LENGTH)) < 0
  const before = lines.findLastIndex(isBeyond)
  return lines[before + 1] ?? lines.at(-1) ?? 0
}

function readEnd(process: string | null): ProcessEnd | null {
  return process === null ? null : (JSON.parse(process) as ProcessEnd)
}

export function noLog(run: string): PunctualError {
  return new PunctualError('log_not_found', `${run} has no such attempt yet`)
}
