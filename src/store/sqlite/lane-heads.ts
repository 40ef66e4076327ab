import type { Database } from 'better-sqlite3'
import type { LaneHead } from '../port.ts'

/** From lane to lane, stepping over the rest of each: the cost is that of the lanes, not of the runs. */
export const NEXT_HEAD = `
  SELECT lane_id AS laneId, rank, pos FROM run WHERE status = 0 AND lane_id > ?
   ORDER BY lane_id, rank, pos LIMIT 1`

export function prepareLaneHeads(db: Database): () => LaneHead[] {
  const next = db.prepare<[number], LaneHead>(NEXT_HEAD)

  return () => {
    const heads: LaneHead[] = []
    for (let head = next.get(0); head; head = next.get(head.laneId)) heads.push(head)
    return heads
  }
}
