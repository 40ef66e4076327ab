import type { QueueStore, RunQueries, MaintenanceStore } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { MetricSources } from './metrics.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { StoreHealth } from '../health/store-health.ts'
import type { StoreClock } from '../cluster/store-clock.ts'
import type { LaneIndex } from '../dispatch/lanes/lane-index.ts'

/** Collects the figures of a node when metrics are read. */
export function metricSources(deps: {
  readonly store: Pick<RunQueries, 'liveCounts'> &
    Pick<QueueStore, 'laneDepths'> &
    Pick<MaintenanceStore, 'freeBytes'>
  readonly sessionIndex: SessionIndex
  readonly laneIndex: LaneIndex
  readonly catalog: Pick<CatalogCache, 'lane'>
  readonly health: Pick<StoreHealth, 'failure'>
  readonly storeClock: Pick<StoreClock, 'status' | 'mayDelete'>
  readonly version: string
}): MetricSources {
  const { store, sessionIndex, laneIndex, catalog, health, storeClock, version } = deps
  return {
    // Metrics stay readable while the store fails, because one of them shows the reason.
    live: async () => store.liveCounts().catch(() => ({})),
    slots: () => slotsOf(sessionIndex, laneIndex),
    workers: () => workersOf(sessionIndex),
    clock() {
      const { hold } = storeClock.status()
      const mayDelete = storeClock.mayDelete()
      return { offMs: hold?.byMs ?? 0, isHeld: hold !== null, mayDelete }
    },
    version,
    storeFailure: () => health.failure?.kind ?? null,
    storeFreeBytes: () => store.freeBytes(),
    async queueDepths() {
      const depths = new Map<string, { project: string; queue: string; ready: number }>()
      for (const { laneId, ready } of await store.laneDepths().catch(() => [])) {
        const lane = await catalog.lane(laneId)
        if (!lane) continue
        const { project, queue } = lane
        const known = depths.get(`${project}/${queue}`)
        depths.set(`${project}/${queue}`, { project, queue, ready: ready + (known?.ready ?? 0) })
      }
      return [...depths.values()]
    },
  }
}

function slotsOf(sessionIndex: SessionIndex, laneIndex: LaneIndex): { used: number; free: number } {
  let used = 0
  let total = 0
  for (const { leases, offer } of sessionIndex.sessions.values()) {
    for (const { laneId } of leases.values()) used += laneIndex.get(laneId)?.lane.weight ?? 1
    total += offer.slots
  }
  return { used, free: Math.max(0, total - used) }
}

function workersOf({ sessions }: SessionIndex): { active: number; quarantined: number } {
  let quarantined = 0
  for (const session of sessions.values()) if (session.quarantined !== null) quarantined += 1
  return { active: sessions.size - quarantined, quarantined }
}
