import type { LaneHead } from '../../port.ts'
import type { Database } from '../database/database.ts'
import { read } from '../connection/transaction.ts'

/** Seeks from lane to lane: the cost depends on the number of lanes, not of runs. */
export const LANE_HEADS = {
  name: 'lane-heads',
  text: `
  WITH RECURSIVE head AS (
    (SELECT lane_id, rank, pos FROM ready ORDER BY lane_id, rank, pos LIMIT 1)
     UNION ALL
    SELECT next.* FROM head CROSS JOIN LATERAL (
      SELECT lane_id, rank, pos FROM ready WHERE ready.lane_id > head.lane_id
       ORDER BY lane_id, rank, pos LIMIT 1) next)
  SELECT lane_id AS "laneId", rank, pos, lane.depth::int AS depth
    FROM head CROSS JOIN LATERAL (
      SELECT count(*) AS depth FROM (
        SELECT 1 FROM ready WHERE ready.lane_id = head.lane_id LIMIT $1::int) counted) lane`,
}

export async function laneHeads(
  db: Database,
  { maxCount }: { maxCount: number },
): Promise<LaneHead[]> {
  return read<LaneHead>(db.duty, LANE_HEADS, [maxCount])
}
