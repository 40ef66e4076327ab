import { ints } from '../connection/binary-arrays.ts'
import { IS_LIVE } from '../runs/live-workflow.ts'
import type { Queryable } from '../connection/statement.ts'

/** Counting more ready runs would delay other work; a later sweep counts once there are fewer. */
const MAX_READY = 2_000

/**
 * One statement, so that a run which is just being claimed is seen in one place. It begins after
 * the gates were locked, so that no run enters or leaves them meanwhile.
 */
export const RECOUNT = {
  name: 'recount',
  text: `
  WITH holders AS (
    SELECT gates FROM lease WHERE gates IS NOT NULL
     UNION ALL
    SELECT spec.gates FROM flow CROSS JOIN LATERAL (
      SELECT gates FROM run WHERE run.id = flow.run_id LIMIT 1) spec WHERE ${IS_LIVE}
     UNION ALL
    SELECT spec.gates FROM ready CROSS JOIN LATERAL (
      SELECT gates FROM run WHERE run.id = ready.run_id LIMIT 1) spec),
  counted AS (
    SELECT gate.id, (SELECT count(*) FROM holders WHERE gates @> ARRAY[gate.id])::int AS held
      FROM gate
     WHERE gate.id = ANY ($1::int[])
       AND (SELECT count(*) FROM (SELECT FROM ready LIMIT ${MAX_READY}) limited) < ${MAX_READY})
  UPDATE gate SET held = counted.held FROM counted
   WHERE gate.id = counted.id AND gate.held <> counted.held
  RETURNING gate.id`,
}

/**
 * Counts the runs that hold these gates, which the caller has locked, and returns the gates whose
 * stored count was wrong. A gate's count changes together with the runs it counts, so this finds
 * nothing. If it ever did, runs would wait for a slot that no run holds, for ever.
 */
export async function recount(tx: Queryable, gates: readonly number[]): Promise<number[]> {
  if (gates.length === 0) return []
  const rows = await tx.query<{ id: number }>(RECOUNT, [ints(gates)])
  return rows.map(({ id }) => id)
}
