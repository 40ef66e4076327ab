import type { Lane } from '../../core/queue/lane.ts'
import type { CatalogStore, SweepStore } from '../../store/port.ts'
import type { LaneIndex } from '../dispatch/lanes/lane-index.ts'
import type { LoopStep } from '../loops/run-loop.ts'
import type { Clock } from '../../core/clock.ts'

const FROM_THE_START = 30

/**
 * Reads from the store which lanes exist and which have work: one query instead of a claim on every lane.
 */
export function createLaneRefresh(deps: {
  store: Pick<CatalogStore, 'lanesAfter'> & Pick<SweepStore, 'laneHeads'>
  laneIndex: LaneIndex
}): () => Promise<void> {
  const { store, laneIndex } = deps
  let after = 0
  let rounds = 0
  return async () => {
    // Two nodes may create lanes at once, and the lower id may become visible later, so reading
    // starts over now and then.
    if (rounds % FROM_THE_START === 0) after = 0
    rounds += 1
    const lanes: readonly Lane[] = await store.lanesAfter(after)
    laneIndex.learn(lanes)
    after = lanes.at(-1)?.id ?? after
    const { maxCount, apply } = laneIndex.startRefresh()
    apply(await store.laneHeads({ maxCount }))
  }
}

/**
 * Other nodes fill and empty lanes without a notification, so this node reads them periodically and
 * whenever its hints are uncertain. Also while all its workers are busy: the first one with a free
 * slot gets work at once.
 */
export function refreshLanes(deps: {
  refresh: () => Promise<void>
  hasWorkers: () => boolean
  kick: () => void
}): LoopStep {
  return async () => {
    if (!deps.hasWorkers()) return { more: false }
    await deps.refresh()
    deps.kick()
    return { more: false }
  }
}

/** Lanes whose queue had used up its rate are served again when the rate permits it, not before. */
export function wakeLanes(deps: {
  laneIndex: Pick<LaneIndex, 'endLimits'>
  clock: Pick<Clock, 'mono'>
  kick: () => void
}): LoopStep {
  return async () => {
    const mono = deps.clock.mono()
    const next = deps.laneIndex.endLimits(mono)
    deps.kick()
    return next === null ? { more: false } : { more: false, idleMs: Math.max(1, next - mono) }
  }
}
