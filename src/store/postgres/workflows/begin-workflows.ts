import type { WorkflowRecord, WorkflowStore } from '../../port.ts'
import { bigints, ints } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { FIND_WORKFLOWS } from './workflow-queries.ts'
import { CLOCK, type Queryable } from '../connection/statement.ts'
import { transact } from '../connection/transaction.ts'

/** By then the node that began the workflow has advanced it, or is dead. */
const FIRST_CHECK_MS = 1_000

/** Lanes in the order given; rows that another node is taking are skipped. */
export const PICK_READY = {
  name: 'pick-ready-workflows',
  text: `
  SELECT front.run_id AS "runId", spec.job_id AS "jobId", repeated.wave
    FROM unnest($1::int[]) WITH ORDINALITY AS lane (id, nth)
   CROSS JOIN LATERAL (
     SELECT run_id, rank, pos FROM ready WHERE ready.lane_id = lane.id
      ORDER BY rank, pos LIMIT $2::int FOR UPDATE SKIP LOCKED) front
   CROSS JOIN LATERAL (
     SELECT job_id, retry_of FROM run WHERE run.id = front.run_id LIMIT 1) spec
    LEFT JOIN LATERAL (
      SELECT wave FROM flow WHERE flow.run_id = spec.retry_of AND flow.job_id = spec.job_id
       LIMIT 1) repeated ON true
   ORDER BY nth, rank, pos LIMIT $2::int`,
}
/** In ascending order of jobs, so that two nodes that begin workflows never wait for each other. */
export const COUNT_WAVES = {
  name: 'count-waves',
  text: `
  INSERT INTO wave AS w (job_id, last)
  SELECT job_id, count FROM unnest($1::int[], $2::int[]) AS item (job_id, count) ORDER BY job_id
      ON CONFLICT (job_id) DO UPDATE SET last = w.last + excluded.last
  RETURNING job_id AS "jobId", last`,
}
export const BEGIN_WORKFLOWS = {
  name: 'begin-workflows',
  text: `
  WITH ${CLOCK},
  deleted AS (
    DELETE FROM ready WHERE run_id = ANY ($3::bigint[]) RETURNING run_id, attempt, lost)
  INSERT INTO flow (run_id, project_id, job_id, wave, revision, node, attempt, lost, began_at,
                    look_at)
  SELECT deleted.run_id, spec.project_id, spec.job_id, item.wave, 0, $2::int, attempt, lost, now,
         now + ${FIRST_CHECK_MS}
    FROM deleted JOIN unnest($3::bigint[], $4::int[]) AS item (run_id, wave) USING (run_id)
   CROSS JOIN clock
   CROSS JOIN LATERAL (
     SELECT project_id, job_id FROM run WHERE run.id = deleted.run_id LIMIT 1) spec`,
}

interface Picked {
  readonly runId: number
  readonly jobId: number
  /** Wave of the run it retries. */
  readonly wave: number | null
}

export async function beginWorkflows(
  db: Database,
  { node, lanes, limit }: Parameters<WorkflowStore['beginWorkflows']>[0],
): Promise<WorkflowRecord[]> {
  return transact(db.duty, async (tx) => {
    const picked = await tx.query<Picked>(PICK_READY, [ints(lanes), limit])
    if (picked.length === 0) return []
    const waves = await assignWaves(tx, picked)
    const ids = bigints(picked.map(({ runId }) => runId))
    await tx.query(BEGIN_WORKFLOWS, [db.now(), node, ids, ints(waves)])
    const workflows = await tx.query<WorkflowRecord>(FIND_WORKFLOWS, [ids])
    const byRun = new Map(workflows.map((workflow) => [workflow.runId, workflow]))
    return picked.map(({ runId }) => byRun.get(runId)!)
  })
}

/** The waves of these runs, in the order of the runs. */
async function assignWaves(tx: Queryable, picked: readonly Picked[]): Promise<number[]> {
  const fresh = picked.filter(({ wave }) => wave === null)
  const byJob = Map.groupBy(fresh, ({ jobId }) => jobId)
  const rows =
    fresh.length === 0
      ? []
      : await tx.query<{ jobId: number; last: number }>(COUNT_WAVES, [
          ints([...byJob.keys()]),
          ints([...byJob.values()].map((runs) => runs.length)),
        ])
  const next = new Map(
    rows.map(({ jobId, last }) => [jobId, last - (byJob.get(jobId)?.length ?? 0)]),
  )
  return picked.map(({ jobId, wave }) => {
    if (wave !== null) return wave
    const mine = (next.get(jobId) ?? 0) + 1
    next.set(jobId, mine)
    return mine
  })
}
