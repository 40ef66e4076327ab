import type { QueueStore, RunQueries } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import type { MetricSources } from './metrics.ts'
import type { Roster } from '../sessions/session-index.ts'
import type { LaneBoard } from '../dispatch/lane-index.ts'

/** What a node can say of itself when somebody looks. */
export function metricSources(deps: {
  readonly store: Pick<RunQueries, 'liveCounts'> & Pick<QueueStore, 'laneDepths'>
  readonly roster: Roster
  readonly board: LaneBoard
  readonly catalog: Pick<Catalog, 'lane'>
  readonly version: string
}): MetricSources {
  const { store, roster, board, catalog, version } = deps
  return {
    live: async () => store.liveCounts(),
    slots: () => slotsOf(roster, board),
    workers: () => workersOf(roster),
    version,
    async queueDepths() {
      const depths = new Map<string, { project: string; queue: string; ready: number }>()
      for (const { laneId, ready } of await store.laneDepths()) {
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

function slotsOf(roster: Roster, board: LaneBoard): { used: number; free: number } {
  let used = 0
  let total = 0
  for (const { leases, offer } of roster.sessions.values()) {
    for (const { laneId } of leases.values()) used += board.get(laneId)?.lane.weight ?? 1
    total += offer.slots
  }
  return { used, free: Math.max(0, total - used) }
}

function workersOf({ sessions }: Roster): { active: number; quarantined: number } {
  let quarantined = 0
  for (const session of sessions.values()) if (session.quarantined !== null) quarantined += 1
  return { active: sessions.size - quarantined, quarantined }
}
