import type { Random } from '../../src/core/clock.ts'

/** All randomness of one simulation comes from one number, so a seed reproduces a failure. */
export interface Seeded {
  readonly random: Random
  int(bound: number): number
  between(low: number, high: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  /** One of the keys, by weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K
}

export function createSeeded(seed: number): Seeded {
  let state = (seed ^ 0x9e3779b9) >>> 0
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (bound: number) => Math.floor(random() * bound)
  return {
    random,
    int,
    between: (low, high) => low + int(high - low + 1),
    chance: (probability) => random() < probability,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new RangeError('nothing to pick from')
      return items[int(items.length)] as T
    },
    weighted(weights) {
      const entries = Object.entries(weights) as [keyof typeof weights, number][]
      let left = random() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      for (const [key, weight] of entries) {
        left -= weight
        if (left < 0) return key
      }
      return (entries.at(-1) as (typeof entries)[number])[0]
    },
  }
}
