import { ints } from '../connection/binary-arrays.ts'
import { IS_LIVE } from '../workflows/workflow-queries.ts'
import type { Work } from '../connection/statement.ts'

/** More that are ready would hold up others; once they are fewer, there is another time. */
const MOST = 2_000

/**
 * In one statement, so that a run which is just being claimed is seen in one place. It begins after the
 * gates were locked, so that nobody enters or leaves them meanwhile.
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
       AND (SELECT count(*) FROM (SELECT FROM ready LIMIT ${MOST}) few) < ${MOST})
  UPDATE gate SET held = counted.held FROM counted
   WHERE gate.id = counted.id AND gate.held <> counted.held
  RETURNING gate.id`,
}

/**
 * Counts the runs that hold these gates, which the caller has locked, and says at which another number
 * was written. The count of a gate moves with the runs it counts, so this finds nothing. If it ever did,
 * somebody would wait for a place that nobody has, for good.
 */
export async function recount(work: Work, gates: readonly number[]): Promise<number[]> {
  if (gates.length === 0) return []
  const rows = await work.query<{ id: number }>(RECOUNT, [ints(gates)])
  return rows.map(({ id }) => id)
}
