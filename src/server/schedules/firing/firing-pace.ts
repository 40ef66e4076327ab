/** Fixed cost of a firing: the way to the store and back, and the commit. */
const FIXED_COST_MS = 3
/** Too few to learn from: the fixed cost would dominate. */
const MIN_SAMPLE = 20
/** Assumed cost per schedule before any measurement. */
const INITIAL_MS = 0.1
/** Slower measurements count more than faster ones. */
const LEARNING_RATE = { slower: 0.3, faster: 0.05 } as const
/** Factor on the expected cost: being ready too early costs less than being late. */
const SAFETY_FACTOR = 2

/** Learns how fast schedules fire, to know how long before their time firing has to begin. */
export interface FiringPace {
  learn(count: number, tookMs: number): void
  leadMs(count: number): number
  /** How many schedules fire within this time. */
  within(ms: number): number
}

export function createFiringPace(): FiringPace {
  let eachMs = INITIAL_MS
  return {
    learn(count, tookMs) {
      if (count < MIN_SAMPLE) return
      const differsMs = Math.max(0, tookMs - FIXED_COST_MS) / count - eachMs
      eachMs += (differsMs > 0 ? LEARNING_RATE.slower : LEARNING_RATE.faster) * differsMs
    },
    leadMs: (count) => FIXED_COST_MS + SAFETY_FACTOR * eachMs * count,
    within: (ms) => Math.floor(ms / (SAFETY_FACTOR * eachMs)),
  }
}
