import { createPace } from './pace.ts'
import type { Entry, Window } from './window.ts'

/** Schedules fired in one transaction, by what it takes: others wait for it no longer than for a large tick. */
const BATCH_MS = 25
const BATCH = { least: 50, most: 500, mostAhead: 2_000 } as const

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
  const batchOf = (ms: number, most: number) =>
    Math.min(most, Math.max(BATCH.least, pace.within(ms)))

  const beginAt = () => {
    const instant = window.nextAt
    if (instant === null) return Number.POSITIVE_INFINITY
    if (aheadMs === 0) return instant
    const count = window.count(instant, batchOf(aheadMs, BATCH.mostAhead))
    return instant - Math.min(aheadMs, pace.leadMs(count))
  }

  return {
    beginAt,
    take() {
      const now = storeNow()
      const instant = window.nextAt
      if (instant === null || beginAt() > now) return { due: [], at: now }
      if (instant > now) {
        return { due: window.take(instant, batchOf(aheadMs, BATCH.mostAhead)), at: instant }
      }
      return { due: window.take(now, batchOf(BATCH_MS, BATCH.most)), at: now }
    },
    took: pace.learn,
  }
}
