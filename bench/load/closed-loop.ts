/** Shape of the load: at most `inFlight` runs submitted and not yet handled, submitted in batches. */
export interface LoopPlan {
  readonly runs: number
  readonly inFlight: number
  readonly batch: number
  readonly producers: number
}

export interface ClosedLoop {
  /** Runs handled so far. */
  readonly count: number
  /** The no-op handler of every variant calls this, once per run. */
  handled(): void
  /** Submits the load until it is complete or the signal aborts; resolves once every run was handled. */
  offer(plan: LoopPlan, submit: Submit, signal?: AbortSignal): Promise<void>
}

export type Submit = (count: number) => Promise<unknown>

/**
 * The same closed loop for every system: producers submit while slots are free, handlers free slots.
 * Without the limit a slow system would be measured with an ever growing backlog.
 */
export function createClosedLoop(): ClosedLoop {
  let submitted = 0
  let handled = 0
  let freeSlots = 0
  let batch = 1
  let waiting: (() => void)[] = []
  let onAllHandled = () => {}

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
      freeSlots += 1
      if (waiting.length > 0 && freeSlots >= batch) wake()
      if (handled === submitted) onAllHandled()
    },

    async offer(plan, submit, signal) {
      let left = plan.runs
      freeSlots = plan.inFlight
      batch = Math.min(plan.batch, plan.inFlight)
      const produce = async () => {
        while (left > 0 && !signal?.aborted) {
          const count = Math.min(batch, left)
          if (freeSlots < count) {
            await new Promise<void>((resume) => waiting.push(resume))
            continue
          }
          left -= count
          freeSlots -= count
          submitted += count
          await submit(count)
        }
      }
      signal?.addEventListener('abort', wake)
      await Promise.all(Array.from({ length: plan.producers }, produce))
      signal?.removeEventListener('abort', wake)
      if (handled === submitted) return
      await new Promise<void>((resolve) => {
        onAllHandled = resolve
      })
    },
  }
}
