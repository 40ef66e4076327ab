/** What a firing costs besides: its way to the store and back, and the commit. */
const BESIDES_MS = 3
/** Too few to learn from: the rest of the cost would be most of it. */
const FEW = 20
/** What is thought of a store that nobody has seen at work. */
const FIRST_MS = 0.1
const LEARN = 0.3
/** More than expected: to be ready too early costs less than to be late. */
const SPARE = 1.25

/** How fast the store fires, learnt from what it did: so long before their instant it is given them. */
export interface Pace {
  learn(count: number, tookMs: number): void
  leadMs(count: number): number
  /** How many are done in this time. */
  within(ms: number): number
}

export function createPace(): Pace {
  let eachMs = FIRST_MS
  return {
    learn(count, tookMs) {
      if (count < FEW) return
      eachMs += LEARN * (Math.max(0, tookMs - BESIDES_MS) / count - eachMs)
    },
    leadMs: (count) => BESIDES_MS + SPARE * eachMs * count,
    within: (ms) => Math.floor(ms / (SPARE * eachMs)),
  }
}
