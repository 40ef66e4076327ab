import { createPace } from './pace.ts'
import type { Entry, Window } from './window.ts'

/**
 * Schedules fired in one transaction, by what it takes: others wait for it no longer than for a large tick.
 * But not too few, or a slow disk would make commits of them, and those be all that it does.
 */
const BATCH_MS = 25
const BATCH = { least: 250, most: 500 } as const
const AHEAD = { least: 500, most: 2_000 } as const

/** Which schedules of the window the store is given next, and when: as many as it can do at a time. */
export interface NextBatch {
  /** What is due, or so soon that the store had better begin; and the time it will be when it fires. */
  take(): { due: Entry[]; at: number }
  /** When there is something to take, by the store's clock. */
  beginAt(): number
  /** So long it took the store to fire so many. */
  took(count: number, ms: number): void
}

export function createNextBatch(deps: {
  readonly window: Window
  /** So long before an instant the store may be given what is due then. */
  readonly aheadMs: number
  storeNow(): number
}): NextBatch {
  const { window, aheadMs, storeNow } = deps
  const pace = createPace()
  const batch = () => clamp(pace.within(BATCH_MS), BATCH)
  const batchAhead = () => clamp(pace.within(aheadMs), AHEAD)

  const beginAt = () => {
    const instant = window.nextAt
    if (instant === null) return Number.POSITIVE_INFINITY
    // How many they are matters only when they are near.
    if (aheadMs === 0 || instant - storeNow() > aheadMs) return instant - aheadMs
    return instant - Math.min(aheadMs, pace.leadMs(window.count(instant, batchAhead())))
  }

  return {
    beginAt,
    take() {
      const now = storeNow()
      const instant = window.nextAt
      if (instant === null || beginAt() > now) return { due: [], at: now }
      return instant > now
        ? { due: window.take(instant, batchAhead()), at: instant }
        : { due: window.take(now, batch()), at: now }
    },
    took: pace.learn,
  }
}

function clamp(count: number, { least, most }: { least: number; most: number }): number {
  return Math.min(most, Math.max(least, count))
}
