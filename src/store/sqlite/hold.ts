import { StoreError } from '../port.ts'
import { systemNow } from './system-clock.ts'

/** While a firing is got ready and waits, nobody else is served: no longer than for a large tick. */
export const AHEAD_MS = 50
/** Nobody asks for more, except by a clock that differs: then it is early, or the clock has moved. */
const MOST_MS = 2 * AHEAD_MS

/** Keeps the transaction under way open until that time, and says how long it had to. */
export type Hold = (until: number) => number

/** By the clock of the system, with the thread doing nothing else meanwhile. */
export const holdThread: Hold = (until) => {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  const startedAt = systemNow()
  for (let left = until - startedAt; left > 0; left = until - systemNow()) {
    if (left > MOST_MS) throw new StoreError('unavailable', 'the clock was set back meanwhile')
    Atomics.wait(cell, 0, 0, left)
  }
  return Math.max(0, systemNow() - startedAt)
}

/** The time as which work counts that shall not be seen before `notBefore`. */
export function timeFor(notBefore: number, now: number): number {
  return notBefore > now && notBefore - now <= MOST_MS ? notBefore : now
}
