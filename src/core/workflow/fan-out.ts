import type { FinalState } from '../run/run-state.ts'
import { isSettled, outcomeOf, type StepFact } from './step-facts.ts'

const UNTOUCHED = 0
const LIVE = 1
const SETTLED = 2

/** The items of one fan-out: a byte for each, and counts. */
export interface FanOut {
  readonly count: number
  hear(fact: StepFact): void
  /** The next item nobody has touched, which counts as started from now on; -1 if there is none. */
  startNext(): number
  readonly hasUntouched: boolean
  /** How many have been started and have not ended. */
  readonly live: number
  liveItems(): Iterable<number>
  isUntouched(item: number): boolean
  /** How the whole has ended, once nothing of it is live and nothing will be started. */
  ending(): FinalState
}

export function createFanOut(count: number): FanOut {
  const states = new Uint8Array(count)
  let untouched = count
  let live = 0
  let ok = 0
  let failed = 0
  /** All before it have been touched. */
  let first = 0

  const touch = (item: number) => {
    untouched -= 1
    live += 1
    states[item] = LIVE
  }

  return {
    count,
    hear({ item, state, reason }) {
      const before = states[item]
      if (before === undefined || before === SETTLED) return
      if (before === UNTOUCHED) touch(item)
      if (!isSettled(state)) return
      live -= 1
      states[item] = SETTLED
      if (outcomeOf(state, reason) === 'ok') ok += 1
      else if (state === 'failed') failed += 1
    },
    startNext() {
      while (first < count && states[first] !== UNTOUCHED) first += 1
      if (first === count) return -1
      touch(first)
      return first
    },
    get hasUntouched() {
      return untouched > 0
    },
    get live() {
      return live
    },
    *liveItems() {
      for (let item = 0; item < count; item += 1) if (states[item] === LIVE) yield item
    },
    isUntouched: (item) => states[item] === UNTOUCHED,
    ending() {
      if (failed > 0) return 'failed'
      return ok === count ? 'succeeded' : 'cancelled'
    },
  }
}
