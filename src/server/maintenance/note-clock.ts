import type { NodeStore } from '../../store/port.ts'
import type { StoreClock } from '../cluster/store-clock.ts'
import type { LoopStep } from '../loops/run-loop.ts'

/** How often the trusted time is stored: the next start compares its clock with it. */
export const NOTE_CLOCK_MS = 300_000

export function noteClock(deps: {
  store: Pick<NodeStore, 'recordClock'>
  storeClock: Pick<StoreClock, 'toNote'>
  /**
   * An earlier time is stored only when nothing waits for the rejected one, because a start
   * compares with it.
   */
  isRewinding(): boolean
}): LoopStep {
  return async () => {
    if (deps.isRewinding()) return { more: false }
    const note = deps.storeClock.toNote()
    if (note) await deps.store.recordClock(note)
    return { more: false }
  }
}
