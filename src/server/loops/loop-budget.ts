import type { Clock } from '../../core/clock.ts'

/** Part of the event loop's time that this kind of work may take while much of it waits. */
const SHARE = 0.25
/** Time that may be used at once after a pause, so that a single reader never waits. */
const BURST_MS = 100

/**
 * Bounds how much time of the event loop one kind of work takes, so that heartbeats and submissions
 * are answered however much of it is asked for.
 */
export interface LoopBudget {
  /** Runs synchronous work in turn, once the budget allows it. */
  run<T>(work: () => T): Promise<T>
}

export function createLoopBudget(clock: Pick<Clock, 'mono' | 'sleep'>): LoopBudget {
  let leftMs = BURST_MS
  let refilledMono = clock.mono()
  let last: Promise<unknown> = Promise.resolve()

  const refill = () => {
    const nowMono = clock.mono()
    leftMs = Math.min(BURST_MS, leftMs + (nowMono - refilledMono) * SHARE)
    refilledMono = nowMono
  }

  const runNow = async <T>(work: () => T): Promise<T> => {
    refill()
    if (leftMs <= 0) await clock.sleep(Math.ceil((1 - leftMs) / SHARE))
    const startedMono = clock.mono()
    try {
      return work()
    } finally {
      leftMs -= clock.mono() - startedMono
      // Other work of the loop runs between two turns, also while budget is left.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  return {
    run(work) {
      const turn = last.then(() => runNow(work))
      last = turn.catch(() => {})
      return turn
    },
  }
}
