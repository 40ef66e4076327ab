import { isFinal } from '../../core/run/run-state.ts'
import type { LogStore, RunRecord } from '../../store/port.ts'
import type { Watch } from '../runs/watch.ts'
import type { LoggedAttempt, LogReader } from './log-reader.ts'

const FOREVER_MS = 24 * 3_600_000

/** The state of a run, and how much it has printed. */
export interface OutputState {
  readonly run: RunRecord
  /** Its latest attempt, once there is one. */
  readonly latest: ReadableAttempt | null
}

/** An attempt with the number of chunks that can be read. */
export interface ReadableAttempt {
  readonly attempt: LoggedAttempt
  readonly chunks: number
}

/** Watches one run for all of its viewers. */
export interface RunWatcher {
  /** The current state; not older than what this node knows. */
  look(): Promise<OutputState>
  /** Resolves when there is a newer state than this, or the signal aborts. */
  next(readState: OutputState, signal: AbortSignal): Promise<void>
  leave(): void
}

/** Hundreds may watch one run; each change of it is read once. */
export function createRunWatchers(deps: {
  readonly watch: Watch
  readonly reader: Pick<LogReader, 'find'>
  readonly store: Pick<LogStore, 'logEnd'>
  findRun(runId: number): Promise<RunRecord>
}): { join(runId: number): RunWatcher } {
  const { watch, reader, store } = deps
  const shared = new Map<number, SharedWatcher>()

  const readState = async (runId: number): Promise<OutputState> => {
    const run = await deps.findRun(runId)
    const attempt = await reader.find(run, undefined)
    return { run, latest: attempt && (await printed(attempt, store)) }
  }

  const observe = async (runId: number, watcher: SharedWatcher) => {
    while (!watcher.abandoned.signal.aborted) {
      // Created before the read, so that no change between read and wait is missed.
      const turn = watch.next(runId, FOREVER_MS, watcher.abandoned.signal)
      const reading = readState(runId)
      watcher.show(reading)
      const isOver = await reading.then(
        ({ run }) => isFinal(run.state),
        () => true,
      )
      // Current viewers get the error; the next viewer tries again.
      if (isOver) return shared.get(runId) === watcher ? void shared.delete(runId) : undefined
      await turn
    }
  }

  return {
    join(runId) {
      const known = shared.get(runId)
      const watcher = known ?? new SharedWatcher()
      shared.set(runId, watcher)
      watcher.viewers += 1
      if (!known) void observe(runId, watcher)
      return {
        look: () => watcher.current,
        next: (seen, signal) => watcher.next(seen, signal),
        leave() {
          watcher.viewers -= 1
          if (watcher.viewers > 0) return
          watcher.abandoned.abort('over')
          if (shared.get(runId) === watcher) shared.delete(runId)
        },
      }
    },
  }
}

export async function printed(
  attempt: LoggedAttempt,
  store: Pick<LogStore, 'logEnd'>,
): Promise<ReadableAttempt> {
  const { runId, fence, end } = attempt
  const chunks = end?.output?.chunks ?? (await store.logEnd({ runId, fence })).chunks
  return { attempt, chunks }
}

class SharedWatcher {
  readonly abandoned = new AbortController()
  viewers = 0
  current: Promise<OutputState> = new Promise(() => {})
  #latest: OutputState | undefined
  #waiting = new Set<() => void>()

  show(reading: Promise<OutputState>): void {
    this.current = reading
    const publish = (readState?: OutputState) => {
      this.#latest = readState
      for (const wake of [...this.#waiting]) wake()
    }
    reading.then(publish, () => publish())
  }

  next(seen: OutputState, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted || this.#latest !== seen) return resolve()
      const wake = () => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake)
    })
  }
}
