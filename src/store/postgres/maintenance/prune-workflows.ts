import type { Database } from '../database/database.ts'
import { transact } from '../connection/transaction.ts'

/** Workflows that have ended and whose runs are deleted. */
const ENDED_WORKFLOWS = `
    SELECT f.run_id FROM flow f
     WHERE f.run_id < $1::bigint AND f.ended_at IS NOT NULL
       AND NOT EXISTS (SELECT FROM run WHERE run.id = f.run_id)
     ORDER BY f.run_id LIMIT $2::int`
const PRUNE_STEPS = {
  name: 'prune-steps',
  text: `
  WITH ended_workflows AS MATERIALIZED (${ENDED_WORKFLOWS}),
  unprocessed AS (DELETE FROM told WHERE flow_id = ANY (ARRAY(SELECT run_id FROM ended_workflows))),
  steps AS (
    DELETE FROM step WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM step WHERE flow_id = ANY (ARRAY(SELECT run_id FROM ended_workflows)) LIMIT $2::int))
    RETURNING 1)
  SELECT (SELECT count(*) FROM steps)::int AS steps, (SELECT count(*) FROM ended_workflows)::int AS workflows`,
}
const PRUNE_WORKFLOWS = {
  name: 'prune-workflows',
  text: `
  WITH ended_workflows AS MATERIALIZED (${ENDED_WORKFLOWS})
  DELETE FROM flow WHERE run_id = ANY (ARRAY(
    SELECT run_id FROM ended_workflows
     WHERE NOT EXISTS (SELECT FROM step WHERE step.flow_id = ended_workflows.run_id)))`,
}

/**
 * Runs are dropped by week; the rows of their workflows follow in batches. Steps first, of which a
 * workflow may have very many: the remaining steps are found through the workflow.
 */
export async function pruneWorkflows(
  db: Database,
  { below, limit }: { below: number; limit: number },
): Promise<{ more: boolean }> {
  return transact(db.reading, async (tx) => {
    const [row] = await tx.query<{ steps: number; workflows: number }>(PRUNE_STEPS, [below, limit])
    if (row!.workflows > 0) await tx.query(PRUNE_WORKFLOWS, [below, limit])
    return { more: row!.steps === limit || row!.workflows === limit }
  })
}
