import { PunctualError } from '../../core/errors.ts'
import { publicId } from '../../core/ids.ts'
import { bytesOf, type Entry, type ProcessEnd } from '../../core/output.ts'
import { isFinal } from '../../core/run-state.ts'
import type { WireLog, WireLogLine } from '../../core/views.ts'
import type { LogStore, RunQueries, RunRecord } from '../../store/port.ts'
import { countLines } from '../sessions/log.ts'
import { linesOf } from './log-lines.ts'
import { createTurns } from './turns.ts'

/** Chunks read at a time for a page: some two megabytes at most. */
const CHUNKS = 8
/** Streams read chunk by chunk, so that one that is never read from holds no more than that. */
const STREAMED = 1
/** How many streams read at once; the rest of the node's work goes on in between. */
const STREAMS_AT_ONCE = 2

/** One attempt of a run, as far as its output is concerned. */
export interface LoggedAttempt {
  readonly runId: number
  readonly attempt: number
  readonly fence: number
  readonly startedAt: number
  /** Set once it is over; without output if it printed nothing, or was lost. */
  readonly end: ProcessEnd | null | undefined
}

export interface LogReader {
  /** The attempt that is asked for, or the latest. */
  find(run: RunRecord, attempt: number | undefined): Promise<LoggedAttempt | null>
  /** Lines from a number on. */
  read(attempt: LoggedAttempt, from: number, limit: number): Promise<WireLog>
  /** The last so many lines. */
  tail(attempt: LoggedAttempt, count: number): Promise<WireLog>
  /** Chunks from a number on, as far as they are there. */
  chunks(attempt: LoggedAttempt, from: number): AsyncGenerator<readonly Entry[]>
  /** Everything, as it was printed. */
  raw(attempt: LoggedAttempt): AsyncGenerator<Buffer>
}

interface Piece {
  readonly firstLine: number
  readonly entries: readonly Entry[]
}

export function createLogReader(store: LogStore & Pick<RunQueries, 'attemptsOf'>): LogReader {
  const takeTurn = createTurns(STREAMS_AT_ONCE)

  /** Chunks in order, the last one, which came with the end, too. */
  async function* pieces(
    attempt: LoggedAttempt,
    from: number,
    logChunks = store.logChunks.bind(store),
    limit = CHUNKS,
  ): AsyncGenerator<Piece> {
    const { runId, fence } = attempt
    let nextLine = 0
    for (let chunk = from; ;) {
      const rows = await logChunks({ runId, fence, from: chunk, limit })
      for (const { firstLine, lines, entries } of rows) {
        yield { firstLine, entries: JSON.parse(entries) as Entry[] }
        nextLine = firstLine + lines
      }
      if (rows.length < limit) break
      chunk += rows.length
    }
    const last = attempt.end?.output?.last
    if (!last) return
    if (from > 0 && nextLine === 0) nextLine = await lineAfter(attempt, from - 1)
    yield { firstLine: nextLine, entries: last }
  }

  const stream = (attempt: LoggedAttempt, from: number) =>
    pieces(attempt, from, (input) => takeTurn(() => store.logChunks(input)), STREAMED)

  const lineAfter = async ({ runId, fence }: LoggedAttempt, chunk: number): Promise<number> => {
    const [row] = await store.logChunks({ runId, fence, from: chunk, limit: 1 })
    return row ? row.firstLine + row.lines : 0
  }

  const chunkOf = async (attempt: LoggedAttempt, line: number): Promise<number> => {
    const { runId, fence } = attempt
    const found = await store.findLine({ runId, fence, line })
    if (found !== null) return found
    // Beyond all stored chunks: in the last one, or not there yet.
    return Math.max(0, (attempt.end?.output?.chunks ?? 1) - 1)
  }

  const show = (attempt: LoggedAttempt, lines: readonly WireLogLine[], next: number): WireLog => ({
    run: publicId('run', attempt.runId),
    attempt: attempt.attempt,
    lines,
    next_line: next,
    complete: attempt.end !== undefined,
    dropped: attempt.end?.output?.dropped ?? 0,
  })

  return {
    async find(run, wanted) {
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
    },

    async read(attempt, from, limit) {
      const lines: WireLogLine[] = []
      let next = from
      for await (const piece of pieces(attempt, await chunkOf(attempt, from))) {
        for (const line of linesOf(piece.entries, piece.firstLine, attempt.startedAt)) {
          if (line.line < from) continue
          if (lines.length === limit) return show({ ...attempt, end: undefined }, lines, line.line)
          lines.push(line)
        }
        next = Math.max(next, piece.firstLine + countLines(piece.entries))
      }
      return show(attempt, lines, next)
    },

    async tail(attempt, count) {
      const { runId, fence } = attempt
      const end = await store.logEnd({ runId, fence })
      const last = attempt.end?.output?.last ?? []
      let lines = linesOf(last, end.lines, attempt.startedAt)
      // Backwards, only as far as it takes: the end of a long log is found as fast as that of a short one.
      for (let chunk = end.chunks - 1; chunk >= 0 && lines.length <= count; chunk -= 1) {
        const [row] = await store.logChunks({ runId, fence, from: chunk, limit: 1 })
        if (!row) break
        const entries = JSON.parse(row.entries) as Entry[]
        lines = [...linesOf(entries, row.firstLine, attempt.startedAt), ...lines]
      }
      return show(attempt, lines.slice(-count), end.lines + countLines(last))
    },

    async *chunks(attempt, from) {
      const total = attempt.end?.output?.chunks
      if (total !== undefined && from >= total) return
      for await (const { entries } of stream(attempt, from)) yield entries
    },

    async *raw(attempt) {
      for await (const { entries } of stream(attempt, 0)) {
        for (const [, stream, text] of entries) if (stream !== 0) yield bytesOf(text)
      }
    },
  }
}

function readEnd(process: string | null): ProcessEnd | null {
  return process === null ? null : (JSON.parse(process) as ProcessEnd)
}

export function noLog(run: string): PunctualError {
  return new PunctualError('log_not_found', `${run} has no such attempt yet`)
}
