import { AHEAD_MS } from '../../core/schedule/firing/early-firing.ts'
import { createPace } from './firing-pace.ts'
import type { Entry, Window } from './due-window.ts'

/**
 * Schedules fired in one transaction, by what it takes: others wait for it no longer than for a large tick.
 * But not too few, or a slow disk would make commits of them, and those be all that it does.
 */
const BATCH_MS = 25
const BATCH = { least: 250, most: 500 } as const
/** By so much this node's idea of the store's clock may be ahead of it: what comes too early comes twice. */
const UNSURE_MS = 1
/** To be ready too early costs a worker's place for so long; to be late is to be late. */
const SPARE_MS = 50

/** Which schedules of the window the store is given next, and when: as many as it can do at a time. */
export interface NextBatch {
  /** What is due, or so soon that the store had better begin; and the time as of which it fires. */
  take(): { due: Entry[]; at: number; isAhead: boolean }
  /** When there is something to take, by the store's clock. */
  beginAt(): number
  /** So long it took to fire so many. */
  took(count: number, ms: number): void
}

export function createNextBatch(deps: { readonly window: Window; storeNow(): number }): NextBatch {
  const { window, storeNow } = deps
  const pace = createPace()
  const size = () => Math.min(BATCH.most, Math.max(BATCH.least, pace.within(BATCH_MS)))

  const beginAheadAt = () => {
    const instant = window.nextAheadAt
    const leftMs = instant - storeNow()
    if (leftMs <= 0) return instant + UNSURE_MS
    // How many they are matters only when they are near.
    if (leftMs > AHEAD_MS) return instant - AHEAD_MS
    const count = window.countAhead(instant, pace.within(AHEAD_MS))
    return instant - Math.min(AHEAD_MS, SPARE_MS + pace.leadMs(count))
  }

  return {
    beginAt: () => Math.min(window.nextAt + UNSURE_MS, beginAheadAt()),
    take() {
      const now = storeNow()
      if (window.nextAt + UNSURE_MS <= now) {
        return { due: window.take(now - UNSURE_MS, size()), at: now, isAhead: false }
      }
      if (beginAheadAt() > now) return { due: [], at: now, isAhead: false }
      const at = window.nextAheadAt
      return { due: window.takeAhead(at, size()), at, isAhead: true }
    },
    took: pace.learn,
  }
}
