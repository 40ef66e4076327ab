import type { Clock } from '../../core/clock.ts'
import type { RunRecord } from '../../store/port.ts'
import { isFinal } from '../../core/run/run-state.ts'

/** How often a node polls a run that another node may have ended. */
const POLL_MS = 500

/** Lets callers wait for changes of runs and for new output. */
export interface Watch {
  /** A run changed on this node. */
  touched(runId: number): void
  /** Resolves when the run may have changed, or after `mostMs`. */
  next(runId: number, mostMs: number, signal: AbortSignal): Promise<void>
  /** The run once it has ended, or as it is when the time is over. */
  end(
    runId: number,
    read: () => Promise<RunRecord>,
    mostMs: number,
    signal: AbortSignal,
  ): Promise<RunRecord>
}

export function createWatch(clock: Clock): Watch {
  const waiting = new Map<number, Set<() => void>>()

  const next = (runId: number, mostMs: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const waiters = waiting.get(runId) ?? new Set()
      const over = new AbortController()
      const wake = () => {
        waiters.delete(wake)
        if (waiters.size === 0) waiting.delete(runId)
        signal.removeEventListener('abort', wake)
        over.abort('over')
        resolve()
      }
      if (signal.aborted) return resolve()
      waiters.add(wake)
      waiting.set(runId, waiters)
      signal.addEventListener('abort', wake)
      void clock.sleep(Math.min(mostMs, POLL_MS), over.signal).then(wake)
    })

  return {
    touched(runId) {
      if (waiting.size === 0) return
      for (const wake of [...(waiting.get(runId) ?? [])]) wake()
    },
    next,
    async end(runId, read, mostMs, signal) {
      const untilMono = clock.mono() + mostMs
      for (;;) {
        // Created before the read, so that no change between read and wait is missed.
        const touched = new AbortController()
        const turn = next(
          runId,
          untilMono - clock.mono(),
          AbortSignal.any([signal, touched.signal]),
        )
        const run = await read()
        const isOver = isFinal(run.state) || clock.mono() >= untilMono || signal.aborted
        if (isOver) touched.abort('over')
        await turn
        if (isOver) return run
      }
    },
  }
}
