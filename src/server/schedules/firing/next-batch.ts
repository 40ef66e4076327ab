import { MAX_LEAD_MS } from '../../../core/schedule/firing/early-firing.ts'
import { createFiringPace } from './firing-pace.ts'
import type { DueEntry, DueWindow } from './due-window.ts'

/**
 * Bounds the schedules fired in one transaction by its duration: others wait for it no longer than
 * for a large tick. But a minimum applies, or a slow disk would spend all its time on commits.
 */
const BATCH_MS = 25
const BATCH = { least: 250, most: 500 } as const
/**
 * This node's estimate of the store's clock may be ahead by this much: a firing that is too early
 * has to be repeated.
 */
const CLOCK_SKEW_MS = 1
/** Being ready too early costs a worker's slot for this long; being late delays the run. */
const LEAD_MARGIN_MS = 50

/**
 * Decides which schedules of the window the store gets next, and when: as many as it can handle at
 * a time.
 */
export interface NextBatch {
  /**
   * Takes the due schedules, or those so close that the store should begin; `at` is the time as of
   * which they fire.
   */
  take(): { due: DueEntry[]; at: number; isAhead: boolean }
  /** When there is something to take, by the store's clock. */
  beginAt(): number
  /** Reports how long it took to fire this many. */
  took(count: number, ms: number): void
}

export function createNextBatch(deps: {
  readonly window: DueWindow
  storeNow(): number
}): NextBatch {
  const { window, storeNow } = deps
  const pace = createFiringPace()
  const size = () => Math.min(BATCH.most, Math.max(BATCH.least, pace.within(BATCH_MS)))

  const beginAheadAt = () => {
    const instant = window.nextAheadAt
    const leftMs = instant - storeNow()
    if (leftMs <= 0) return instant + CLOCK_SKEW_MS
    // Their number matters only when they are near.
    if (leftMs > MAX_LEAD_MS) return instant - MAX_LEAD_MS
    const count = window.countAhead(instant, pace.within(MAX_LEAD_MS))
    return instant - Math.min(MAX_LEAD_MS, LEAD_MARGIN_MS + pace.leadMs(count))
  }

  return {
    beginAt: () => Math.min(window.nextAt + CLOCK_SKEW_MS, beginAheadAt()),
    take() {
      const now = storeNow()
      if (window.nextAt + CLOCK_SKEW_MS <= now) {
        return { due: window.take(now - CLOCK_SKEW_MS, size()), at: now, isAhead: false }
      }
      if (beginAheadAt() > now) return { due: [], at: now, isAhead: false }
      const at = window.nextAheadAt
      return { due: window.takeAhead(at, size()), at, isAhead: true }
    },
    took: pace.learn,
  }
}
