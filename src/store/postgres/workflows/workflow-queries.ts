import { STEP_CODE, stepStateOf } from '../../../core/run/step-state.ts'
import { type FinalState, stateOfCode } from '../../../core/run/run-state.ts'
import type { WorkflowRecord, WorkflowStore, RunResult, StepCount, StepRecord } from '../../port.ts'
import { bigints, ints } from '../connection/binary-arrays.ts'
import { type Database, pickLists } from '../database/database.ts'
import { read } from '../connection/transaction.ts'

export const FIND_WORKFLOWS = {
  name: 'find-workflows',
  text: `
  SELECT f.run_id AS "runId", f.revision, f.project_id AS "projectId", f.job_id AS "jobId",
         r.version, f.wave, f.node, f.began_at AS "beganAt", f.look_at AS "checkAt", f.cancelling,
         f.ended_at AS "endedAt", r.rank, r.timeout_ms AS "timeoutMs", r.retry_of AS "retryOf",
         r.created_by AS "createdBy", r.policy, r.work, r.tags, r.input
    FROM unnest($1::bigint[]) AS item (run_id)
   CROSS JOIN LATERAL (SELECT * FROM flow WHERE flow.run_id = item.run_id LIMIT 1) f
   CROSS JOIN LATERAL (SELECT * FROM run WHERE run.id = item.run_id LIMIT 1) r`,
}
/**
 * The unprocessed end of a step `s` of the workflow `$1`, found by its whole key: a join would be
 * planned for the few rows there once were, and compare each step with all ends.
 */
const UNPROCESSED_END_OF = `
    LEFT JOIN LATERAL (
      SELECT * FROM told
       WHERE told.flow_id = $1::bigint AND told.step = s.step AND told.item = s.item LIMIT 1) t
      ON true`
/** Steps of the workflow `$1` from `from`, with their unprocessed ends. */
const stepsIn = (from: string, where = ''): string => `
  SELECT s.step, s.item, coalesce(t.state, s.state) AS state, s.run_id AS "runId", s.reason,
         s.message, s.count, s.due_at AS "dueAt", s.detail, t.flow_id IS NOT NULL AS "isUnprocessed",
         s.started_at AS "startedAt", coalesce(t.at, s.finished_at) AS "finishedAt"
    FROM (${from}) s ${UNPROCESSED_END_OF}
   ${where} ORDER BY s.step, s.item`
export const STEPS_BEHIND = {
  name: 'workflow-steps',
  text: stepsIn(`
      SELECT * FROM step WHERE flow_id = $1::bigint AND (step, item) > ($2::int, $3::int)
       ORDER BY step, item LIMIT $4::int`),
}
export const STEPS_AT = {
  name: 'steps-at',
  text: stepsIn(`
      SELECT step.* FROM unnest($2::int[]) AS place (step)
       CROSS JOIN LATERAL (
         SELECT * FROM step
          WHERE flow_id = $1::bigint AND step.step = place.step AND item = -1 LIMIT 1) step`),
}
export const STEPS_FROM = {
  name: 'steps-from',
  text: stepsIn(`
      SELECT * FROM step WHERE flow_id = $1::bigint AND step >= $2::int AND item = -1
       ORDER BY step LIMIT $3::int`),
}
/**
 * An unprocessed end may have changed the state of any step, so all are examined until there are
 * enough.
 */
export const STEPS_IN_STATE = {
  name: 'steps-in-state',
  text: `${stepsIn(
    `SELECT * FROM step WHERE flow_id = $1::bigint AND step >= $2::int AND item = -1`,
    `WHERE coalesce(t.state, s.state) = $4::smallint`,
  )} LIMIT $3::int`,
}
const FAILED_ITEMS = {
  name: 'failed-items',
  text: `
  SELECT failed.* FROM unnest($2::int[]) AS place (step) CROSS JOIN LATERAL (${stepsIn(
    `SELECT * FROM step WHERE flow_id = $1::bigint AND step.step = place.step AND item >= 0`,
    `WHERE coalesce(t.state, s.state) = $4::smallint`,
  )} LIMIT $3::int) failed`,
}
export const COUNT_ITEMS = {
  name: 'count-items',
  text: `
  SELECT s.step, coalesce(t.state, s.state) AS state, count(*)::int AS count
    FROM step s ${UNPROCESSED_END_OF}
   WHERE s.flow_id = $1::bigint AND s.step = ANY ($2::int[]) AND s.item >= 0 GROUP BY 1, 2`,
}
export const COUNT_STEPS = {
  name: 'count-steps',
  text: `
  SELECT coalesce(t.state, s.state) AS state, count(*)::int AS count
    FROM step s ${UNPROCESSED_END_OF}
   WHERE s.flow_id = $1::bigint AND s.item = -1 GROUP BY 1`,
}
const STEPS_OF_RUNS = {
  name: 'steps-of-runs',
  text: `
  SELECT flow_id AS "workflowId", step, item, run_id AS "runId" FROM step
   WHERE run_id = ANY ($1::bigint[])`,
}
export const RESULTS_OF = {
  name: 'results-of',
  text: `
  SELECT e.run_id AS "runId", e.state, e.result FROM unnest($1::bigint[]) AS item (run_id)
   CROSS JOIN LATERAL (
     SELECT run_id, state, result FROM run_end WHERE run_end.run_id = item.run_id LIMIT 1) e`,
}

/** Sorts before every step. */
const START = { step: -1, item: -1 }

type Input<Name extends keyof WorkflowStore> = Parameters<WorkflowStore[Name]>[0]
type WithStateCode<Row> = Omit<Row, 'state'> & { readonly state: number }

export async function findWorkflows(
  db: Database,
  { runIds }: Input<'findWorkflows'>,
): Promise<WorkflowRecord[]> {
  return read<WorkflowRecord>(db.duty, FIND_WORKFLOWS, [bigints(runIds)])
}

export async function workflowSteps(
  db: Database,
  { workflowId, after, limit }: Input<'workflowSteps'>,
): Promise<StepRecord[]> {
  const { step, item } = after ?? START
  return toSteps(await read(db.duty, STEPS_BEHIND, [workflowId, step, item, limit]))
}

export async function countSteps(
  db: Database,
  { workflowId }: Input<'countSteps'>,
): Promise<StepCount[]> {
  const rows = await read<WithStateCode<StepCount>>(pickLists(db), COUNT_STEPS, [workflowId])
  return rows.map((row) => ({ ...row, state: stepStateOf(row.state) }))
}

export async function stepsAt(
  db: Database,
  { workflowId, steps }: Input<'stepsAt'>,
): Promise<StepRecord[]> {
  return toSteps(await read(db.reading, STEPS_AT, [workflowId, ints(steps)]))
}

export async function stepsFrom(
  db: Database,
  { workflowId, from, state, limit }: Input<'stepsFrom'>,
): Promise<StepRecord[]> {
  const page = [workflowId, from, limit]
  return toSteps(
    state === null
      ? await read(pickLists(db), STEPS_FROM, page)
      : await read(pickLists(db), STEPS_IN_STATE, [...page, STEP_CODE[state]]),
  )
}

export async function countItems(
  db: Database,
  { workflowId, steps }: Input<'countItems'>,
): ReturnType<WorkflowStore['countItems']> {
  const rows = await read<WithStateCode<StepCount> & { step: number }>(pickLists(db), COUNT_ITEMS, [
    workflowId,
    ints(steps),
  ])
  return rows.map((row) => ({ ...row, state: stepStateOf(row.state) }))
}

export async function failedItems(
  db: Database,
  { workflowId, steps, each }: Input<'failedItems'>,
): Promise<StepRecord[]> {
  const values = [workflowId, ints(steps), each, STEP_CODE.failed]
  return toSteps(await read(pickLists(db), FAILED_ITEMS, values))
}

function toSteps(rows: readonly WithStateCode<StepRecord>[]): StepRecord[] {
  return rows.map((row) => ({ ...row, state: stepStateOf(row.state) }))
}

export async function stepsOfRuns(
  db: Database,
  { runIds }: Input<'stepsOfRuns'>,
): ReturnType<WorkflowStore['stepsOfRuns']> {
  return read(db.reading, STEPS_OF_RUNS, [bigints(runIds)])
}

export async function resultsOf(
  db: Database,
  { runIds }: Input<'resultsOf'>,
): Promise<RunResult[]> {
  const rows = await read<WithStateCode<RunResult>>(db.duty, RESULTS_OF, [bigints(runIds)])
  return rows.map((row) => ({ ...row, state: stateOfCode(row.state) as FinalState }))
}
