import type { OutputEntry } from '../../core/run/output.ts'
import type { LogStore, RunRecord } from '../../store/port.ts'
import type { Watch } from '../runs/watch.ts'
import type { LoggedAttempt, LogReader } from './log-reader.ts'
import {
  createRunWatchers,
  type OutputState,
  type ReadableAttempt,
  printed,
} from './run-watchers.ts'

/** The latest chunks, some ten megabytes of text: viewers close together read them once. */
const KEPT_CHUNKS = 48
/** Maximum number of chunks a viewer that may skip is behind: less than a megabyte. */
const MOST_BEHIND = 4

/** A chunk of output. All viewers get the same object. */
export interface FollowedChunk {
  readonly kind: 'output'
  readonly attempt: number
  readonly chunk: number
  readonly startedAt: number
  readonly entries: readonly OutputEntry[]
}

/** Chunks that were left out because their viewer was too slow and allows skipping. */
export interface SkippedChunks {
  readonly kind: 'skipped'
  readonly attempt: number
  readonly chunks: number
}

export type FollowedOutput = FollowedChunk | SkippedChunks

export interface FollowOptions {
  readonly attempt?: number | undefined
  readonly chunk?: number | undefined
  /** Whether a viewer that falls behind continues at the end. */
  readonly maySkip?: boolean | undefined
}

/**
 * Live output of runs for any number of viewers. Each reads at its own speed without slowing the
 * others.
 */
export interface LiveLogs {
  /**
   * Streams the output while it is printed, attempt after attempt, until the run has ended or the
   * signal aborts; or of one attempt only.
   */
  follow(runId: number, options: FollowOptions, signal: AbortSignal): AsyncGenerator<FollowedOutput>
}

export function createLiveLogs(deps: {
  readonly watch: Watch
  readonly reader: LogReader
  readonly store: Pick<LogStore, 'logEnd'>
  findRun(runId: number): Promise<RunRecord>
}): LiveLogs {
  const { reader, store } = deps
  const watchers = createRunWatchers(deps)
  const kept = new Map<string, Promise<FollowedChunk | null>>()

  const read = async (attempt: LoggedAttempt, chunk: number): Promise<FollowedChunk | null> => {
    const entries = await reader.chunk(attempt, chunk)
    if (!entries) return null
    const { attempt: number, startedAt } = attempt
    return { kind: 'output', attempt: number, chunk, startedAt, entries }
  }

  const chunkOf = (attempt: LoggedAttempt, chunk: number): Promise<FollowedChunk | null> => {
    const key = `${attempt.runId}/${attempt.fence}/${chunk}`
    const known = kept.get(key)
    kept.delete(key)
    const found = known ?? read(attempt, chunk)
    // Inserted again at the end: recently used chunks stay longest.
    kept.set(key, found)
    if (!known) found.then((one) => one ?? kept.delete(key)).catch(() => kept.delete(key))
    const [oldest] = kept.keys()
    if (kept.size > KEPT_CHUNKS && oldest !== undefined) kept.delete(oldest)
    return found
  }

  const find = async ({ run, latest }: OutputState, wanted: number | undefined) => {
    if (wanted === undefined || wanted === run.attempt) return latest
    const attempt = await reader.find(run, wanted)
    return attempt && printed(attempt, store)
  }

  return {
    async *follow(runId, { attempt: asked, chunk: first = 0, maySkip }, signal) {
      const watcher = watchers.join(runId)
      try {
        let wanted = asked
        let chunk = first
        let earlier: ReadableAttempt | null = null
        while (!signal.aborted) {
          const state = await watcher.look()
          const found: ReadableAttempt | null = earlier ?? (await find(state, wanted))
          wanted = found?.attempt.attempt ?? wanted
          if (found && wanted !== state.run.attempt) earlier = found
          if (found && maySkip && found.chunks - chunk > MOST_BEHIND) {
            const next = found.chunks - 1
            yield { kind: 'skipped', attempt: found.attempt.attempt, chunks: next - chunk }
            chunk = next
          }
          const piece = found && chunk < found.chunks ? await chunkOf(found.attempt, chunk) : null
          if (piece) {
            chunk += 1
            yield piece
          } else if (found && found.attempt.end !== undefined) {
            if (asked !== undefined || found.attempt.attempt === state.run.attempt) return
            wanted = found.attempt.attempt + 1
            chunk = 0
            earlier = null
          } else if (state.run.finishedAt !== null) return
          else await watcher.next(state, signal)
        }
      } finally {
        watcher.leave()
      }
    },
  }
}
