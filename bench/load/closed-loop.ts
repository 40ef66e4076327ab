/** How a load is offered: at most `inFlight` runs submitted and not yet handled, `batch` at a time. */
export interface LoopPlan {
  readonly runs: number
  readonly inFlight: number
  readonly batch: number
  readonly producers: number
}

export interface ClosedLoop {
  /** Runs handled since the beginning. */
  readonly count: number
  /** The no-op handler of every variant calls this, once per run. */
  handled(): void
  /** Offers the load, until the signal if there is one; resolves once all of it was handled. */
  offer(plan: LoopPlan, submit: Submit, signal?: AbortSignal): Promise<void>
}

export type Submit = (count: number) => Promise<unknown>

/**
 * The same closed loop for everybody: producers submit as long as there is room, handlers make room.
 * A system that is asked for more than it can hold would be measured with its backlog instead.
 */
export function createClosedLoop(): ClosedLoop {
  let submitted = 0
  let handled = 0
  let room = 0
  let batch = 1
  let waiting: (() => void)[] = []
  let caughtUp = () => {}

  function wake() {
    const woken = waiting
    waiting = []
    for (const resume of woken) resume()
  }

  return {
    get count() {
      return handled
    },

    handled() {
      handled += 1
      room += 1
      if (waiting.length > 0 && room >= batch) wake()
      if (handled === submitted) caughtUp()
    },

    async offer(plan, submit, signal) {
      let left = plan.runs
      room = plan.inFlight
      batch = Math.min(plan.batch, plan.inFlight)
      const produce = async () => {
        while (left > 0 && !signal?.aborted) {
          const count = Math.min(batch, left)
          if (room < count) {
            await new Promise<void>((resume) => waiting.push(resume))
            continue
          }
          left -= count
          room -= count
          submitted += count
          await submit(count)
        }
      }
      signal?.addEventListener('abort', wake)
      await Promise.all(Array.from({ length: plan.producers }, produce))
      signal?.removeEventListener('abort', wake)
      if (handled === submitted) return
      await new Promise<void>((resolve) => {
        caughtUp = resolve
      })
    },
  }
}
