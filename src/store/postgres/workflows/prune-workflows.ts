import type { Database } from '../database/database.ts'
import { transact } from '../connection/transaction.ts'

/** Flows that have ended and whose runs are forgotten. */
const GONE = `
    SELECT f.run_id FROM flow f
     WHERE f.run_id < $1::bigint AND f.ended_at IS NOT NULL
       AND NOT EXISTS (SELECT FROM run WHERE run.id = f.run_id)
     ORDER BY f.run_id LIMIT $2::int`
const PRUNE_STEPS = {
  name: 'prune-steps',
  text: `
  WITH gone AS MATERIALIZED (${GONE}),
  unheard AS (DELETE FROM told WHERE flow_id = ANY (ARRAY(SELECT run_id FROM gone))),
  steps AS (
    DELETE FROM step WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM step WHERE flow_id = ANY (ARRAY(SELECT run_id FROM gone)) LIMIT $2::int))
    RETURNING 1)
  SELECT (SELECT count(*) FROM steps)::int AS steps, (SELECT count(*) FROM gone)::int AS flows`,
}
const PRUNE_FLOWS = {
  name: 'prune-flows',
  text: `
  WITH gone AS MATERIALIZED (${GONE})
  DELETE FROM flow WHERE run_id = ANY (ARRAY(
    SELECT run_id FROM gone
     WHERE NOT EXISTS (SELECT FROM step WHERE step.flow_id = gone.run_id)))`,
}

/**
 * Runs go by the week; what is known of flows follows in bites. Their steps first, of which one may
 * have very many: what is left of a flow is found by it.
 */
export async function pruneFlows(
  db: Database,
  { below, limit }: { below: number; limit: number },
): Promise<{ more: boolean }> {
  return transact(db.reading, async (work) => {
    const [row] = await work.query<{ steps: number; flows: number }>(PRUNE_STEPS, [below, limit])
    if (row!.flows > 0) await work.query(PRUNE_FLOWS, [below, limit])
    return { more: row!.steps === limit || row!.flows === limit }
  })
}
