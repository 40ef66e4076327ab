import type { SweepStore } from '../../store/port.ts'
import type { LoopStep } from '../loops/run-loop.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { NodeSignals } from '../signals/signals.ts'

/** Positions are ids and must be minted before the number of due runs is known: start with few. */
const SMALL_BATCH = 16
const LARGE_BATCH = 1_000
/** Another node may have written a timer without announcing it, so this is the longest sleep. */
const MAX_IDLE_MS = 1_000

/** Moves due runs into their lanes, and sleeps until the next due time. */
export function createPromoteStep(deps: {
  store: Pick<SweepStore, 'promote'>
  mintId: () => number
  storeNow: () => number
  /** False while the clock is in doubt: a time that seems to have come may not have. */
  mayFire: () => boolean
  /** The clock keeps jumping, and the node goes by its own time. */
  isClockOff: () => boolean
  signals: Pick<NodeSignals, 'lanesReady'>
  /** Gets how late the first of the due runs entered its lane. */
  metrics: Pick<Metrics, 'onScheduleLag'>
}): LoopStep {
  let batch = SMALL_BATCH
  let awaitedAt: number | null = null
  return async () => {
    if (!deps.mayFire()) return { more: false, idleMs: MAX_IDLE_MS }
    const positions = Array.from({ length: batch }, deps.mintId)
    const { promoted, lanes, nextDueAt } = await deps.store.promote({
      positions,
      isClockOff: deps.isClockOff(),
    })
    if (lanes.length > 0) deps.signals.lanesReady(lanes)
    // A run written since the last query was not expected; its lag is unknown.
    const lagMs = awaitedAt === null ? -1 : deps.storeNow() - awaitedAt
    if (promoted > 0 && lagMs >= 0) deps.metrics.onScheduleLag(lagMs)
    awaitedAt = nextDueAt
    const idleMs = nextDueAt === null ? MAX_IDLE_MS : nextDueAt - deps.storeNow()
    const more = promoted === batch
    batch = more ? LARGE_BATCH : SMALL_BATCH
    return { more, idleMs: Math.min(MAX_IDLE_MS, Math.max(1, idleMs)) }
  }
}
