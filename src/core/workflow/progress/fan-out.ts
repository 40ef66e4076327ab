import type { FinalState } from '../../run/run-state.ts'
import type { StepState } from '../../run/step-state.ts'
import { isSettled, stepOutcomeOf, type StepFact } from './step-facts.ts'

const UNTOUCHED = 0

const LIVE = 1

const SETTLED = 2

/** The state of the items of one fan-out: one byte per item, and counters. */
export interface FanOut {
  readonly count: number
  apply(fact: StepFact): void
  /** Marks the next untouched item as started and returns its index; -1 if there is none. */
  startNext(): number
  readonly hasUntouched: boolean
  /** Number of items that were started and have not ended. */
  readonly live: number
  liveItems(): Iterable<number>
  isUntouched(item: number): boolean
  /** The final state of the fan-out, once no item is live and none will be started. */
  ending(): FinalState
}

export function createFanOut(count: number): FanOut {
  const states = new Uint8Array(count)
  let untouched = count
  let live = 0
  let ok = 0
  let failed = 0
  /** All items before this one have been started. */
  let first = 0

  const touch = (item: number) => {
    untouched -= 1
    live += 1
    states[item] = LIVE
  }

  return {
    count,
    apply({ item, state, reason }) {
      const before = states[item]
      if (before === undefined || before === SETTLED) return
      if (before === UNTOUCHED) touch(item)
      if (!isSettled(state)) return
      live -= 1
      states[item] = SETTLED
      if (stepOutcomeOf(state, reason) === 'ok') ok += 1
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

/** The number of items of a fan-out in each state. */
export type ItemCounts = Readonly<Record<StepState | 'untouched', number>>
const NONE = { running: 0, waiting: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0 }

/** Completes the counts of a fan-out with `total` items: items without a count are untouched. */
export function itemCounts(
  total: number,
  counted: Iterable<{ readonly state: StepState; readonly count: number }>,
): ItemCounts {
  const counts = { ...NONE }
  let untouched = total
  for (const { state, count } of counted) {
    counts[state] += count
    untouched -= count
  }
  return { ...counts, untouched }
}
