import type { Entry } from '../../core/run/output.ts'
import type { LogStore, RunRecord } from '../../store/port.ts'
import type { Watch } from '../runs/watch.ts'
import type { LoggedAttempt, LogReader } from './log-reader.ts'
import { createSights, type Look, type Printed, printed } from './run-watchers.ts'

/** The latest chunks, some ten megabytes of text: viewers who are close together read them once. */
const KEPT_CHUNKS = 48
/** A viewer that may skip is this far behind at most: less than a megabyte. */
const MOST_BEHIND = 4

/** A chunk of what a run prints. The same object for all who follow it. */
export interface FollowedChunk {
  readonly kind: 'output'
  readonly attempt: number
  readonly chunk: number
  readonly startedAt: number
  readonly entries: readonly Entry[]
}

/** Chunks that were left out, because their viewer was too slow for them and had allowed it. */
export interface SkippedChunks {
  readonly kind: 'skipped'
  readonly attempt: number
  readonly chunks: number
}

export type Followed = FollowedChunk | SkippedChunks

export interface FollowOptions {
  readonly attempt?: number | undefined
  readonly chunk?: number | undefined
  /** Whether a viewer that falls behind goes on at the end. */
  readonly maySkip?: boolean | undefined
}

/** What runs print, for any number of viewers. Each takes what it can, and none slows the others. */
export interface LiveLogs {
  /**
   * What it prints while it prints it, attempt after attempt, until the run has ended or the signal
   * aborts; only of one attempt if that is asked for.
   */
  follow(runId: number, options: FollowOptions, signal: AbortSignal): AsyncGenerator<Followed>
}

export function createLiveLogs(deps: {
  readonly watch: Watch
  readonly reader: LogReader
  readonly store: Pick<LogStore, 'logEnd'>
  findRun(runId: number): Promise<RunRecord>
}): LiveLogs {
  const { reader, store } = deps
  const sights = createSights(deps)
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
    // Again at the end: what is wanted most stays longest.
    kept.set(key, found)
    if (!known) found.then((one) => one ?? kept.delete(key)).catch(() => kept.delete(key))
    const [oldest] = kept.keys()
    if (kept.size > KEPT_CHUNKS && oldest !== undefined) kept.delete(oldest)
    return found
  }

  const find = async ({ run, latest }: Look, wanted: number | undefined) => {
    if (wanted === undefined || wanted === run.attempt) return latest
    const attempt = await reader.find(run, wanted)
    return attempt && printed(attempt, store)
  }

  return {
    async *follow(runId, { attempt: asked, chunk: first = 0, maySkip }, signal) {
      const sight = sights.join(runId)
      try {
        let wanted = asked
        let chunk = first
        let earlier: Printed | null = null
        while (!signal.aborted) {
          const look = await sight.look()
          const found: Printed | null = earlier ?? (await find(look, wanted))
          wanted = found?.attempt.attempt ?? wanted
          if (found && wanted !== look.run.attempt) earlier = found
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
            if (asked !== undefined || found.attempt.attempt === look.run.attempt) return
            wanted = found.attempt.attempt + 1
            chunk = 0
            earlier = null
          } else if (look.run.finishedAt !== null) return
          else await sight.next(look, signal)
        }
      } finally {
        sight.leave()
      }
    },
  }
}
