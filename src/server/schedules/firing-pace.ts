/** What a firing costs besides: its way to the store and back, and the commit. */
const BESIDES_MS = 3
/** Too few to learn from: the rest of the cost would be most of it. */
const FEW = 20
/** What is thought of a store that nobody has seen at work. */
const FIRST_MS = 0.1
/** What was slow is believed sooner than what was fast. */
const LEARN = { slower: 0.3, faster: 0.05 } as const
/** More than expected: to be ready too early costs less than to be late. */
const SPARE = 2

/** How fast schedules fire, learnt from those that did: so long before their instant it is begun. */
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
      const differsMs = Math.max(0, tookMs - BESIDES_MS) / count - eachMs
      eachMs += (differsMs > 0 ? LEARN.slower : LEARN.faster) * differsMs
    },
    leadMs: (count) => BESIDES_MS + SPARE * eachMs * count,
    within: (ms) => Math.floor(ms / (SPARE * eachMs)),
  }
}
