import { isFinal } from '../../core/run/run-state.ts'
import type { LogStore, RunRecord } from '../../store/port.ts'
import type { Watch } from '../runs/watch.ts'
import type { LoggedAttempt, LogReader } from './log-reader.ts'

const FOREVER_MS = 24 * 3_600_000

/** How a run is, and how much it has printed. */
export interface Look {
  readonly run: RunRecord
  /** Its latest attempt, once there is one. */
  readonly latest: Printed | null
}

/** An attempt with the number of chunks that can be read of it. */
export interface Printed {
  readonly attempt: LoggedAttempt
  readonly chunks: number
}

/** A run that somebody watches: looked at once for all of them. */
export interface Sight {
  /** As it is now; not older than what this node has heard of it. */
  look(): Promise<Look>
  /** Resolves when there is a newer one than this, or the signal aborts. */
  next(look: Look, signal: AbortSignal): Promise<void>
  leave(): void
}

/** Hundreds may watch one run; whatever happens to it is looked up once. */
export function createSights(deps: {
  readonly watch: Watch
  readonly reader: Pick<LogReader, 'find'>
  readonly store: Pick<LogStore, 'logEnd'>
  findRun(runId: number): Promise<RunRecord>
}): { join(runId: number): Sight } {
  const { watch, reader, store } = deps
  const shared = new Map<number, SharedSight>()

  const look = async (runId: number): Promise<Look> => {
    const run = await deps.findRun(runId)
    const attempt = await reader.find(run, undefined)
    return { run, latest: attempt && (await printed(attempt, store)) }
  }

  const observe = async (runId: number, sight: SharedSight) => {
    while (!sight.gone.signal.aborted) {
      // Before looking, so that nothing can happen between the look and the wait.
      const turn = watch.next(runId, FOREVER_MS, sight.gone.signal)
      const looking = look(runId)
      sight.show(looking)
      const isOver = await looking.then(
        ({ run }) => isFinal(run.state),
        () => true,
      )
      // What cannot be read is told to those who ask; whoever comes next tries again.
      if (isOver) return shared.get(runId) === sight ? void shared.delete(runId) : undefined
      await turn
    }
  }

  return {
    join(runId) {
      const known = shared.get(runId)
      const sight = known ?? new SharedSight()
      shared.set(runId, sight)
      sight.viewers += 1
      if (!known) void observe(runId, sight)
      return {
        look: () => sight.current,
        next: (seen, signal) => sight.next(seen, signal),
        leave() {
          sight.viewers -= 1
          if (sight.viewers > 0) return
          sight.gone.abort('over')
          if (shared.get(runId) === sight) shared.delete(runId)
        },
      }
    },
  }
}

export async function printed(
  attempt: LoggedAttempt,
  store: Pick<LogStore, 'logEnd'>,
): Promise<Printed> {
  const { runId, fence, end } = attempt
  const chunks = end?.output?.chunks ?? (await store.logEnd({ runId, fence })).chunks
  return { attempt, chunks }
}

class SharedSight {
  readonly gone = new AbortController()
  viewers = 0
  current: Promise<Look> = new Promise(() => {})
  #latest: Look | undefined
  #waiting = new Set<() => void>()

  show(looking: Promise<Look>): void {
    this.current = looking
    const tell = (look?: Look) => {
      this.#latest = look
      for (const wake of [...this.#waiting]) wake()
    }
    looking.then(tell, () => tell())
  }

  next(seen: Look, signal: AbortSignal): Promise<void> {
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
