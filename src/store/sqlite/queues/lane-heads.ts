import type { Database } from 'better-sqlite3'
import type { LaneHead, SweepStore } from '../../port.ts'
import type { Sync } from '../connection/sync.ts'

/** Seeks from lane to lane: the cost depends on the number of lanes, not of runs. */
export const NEXT_HEAD = `
  SELECT lane_id AS laneId, rank, pos FROM run WHERE status = 0 AND lane_id > ?
   ORDER BY lane_id, rank, pos LIMIT 1`
export const DEPTH = `
  SELECT count(*) FROM (SELECT 1 FROM run WHERE status = 0 AND lane_id = ? LIMIT ?)`

export function prepareLaneHeads(db: Database): Sync<Pick<SweepStore, 'laneHeads'>>['laneHeads'] {
  const next = db.prepare<[number], Omit<LaneHead, 'depth'>>(NEXT_HEAD)
  const depth = db.prepare<[number, number], number>(DEPTH).pluck()

  return ({ maxCount }) => {
    const heads: LaneHead[] = []
    for (let head = next.get(0); head; head = next.get(head.laneId)) {
      heads.push({ ...head, depth: depth.get(head.laneId, maxCount) ?? 1 })
    }
    return heads
  }
}
