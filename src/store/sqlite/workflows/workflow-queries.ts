import type { Database } from 'better-sqlite3'
import { STEP_CODE, stepStateOf } from '../../../core/run/step-state.ts'
import { type FinalState, stateOfCode } from '../../../core/run/run-state.ts'
import type { WorkflowRecord, WorkflowStore, RunResult, StepRecord } from '../../port.ts'
import type { Sync } from '../connection/sync.ts'

export const FIND_WORKFLOW = `
  SELECT run_id AS runId, revision, project_id AS projectId, flow.job_id AS jobId, version, wave,
         flow.node, began_at AS beganAt, look_at AS checkAt, cancelling, ended_at AS endedAt, rank,
         timeout_ms AS timeoutMs, retry_of AS retryOf, created_by AS createdBy, policy, work, tags,
         input
    FROM flow JOIN run ON run.id = flow.run_id WHERE run_id = ?`
const STEP = `
  SELECT step, item, state, run_id AS runId, reason, message, count, due_at AS dueAt, detail,
         told_at IS NOT NULL AS isUnprocessed, started_at AS startedAt, finished_at AS finishedAt
    FROM step`
export const STEPS_BEHIND = `${STEP}
   WHERE flow_id = ? AND (step, item) > (?, ?) ORDER BY step, item LIMIT ?`
export const STEP_AT = `${STEP} WHERE flow_id = ? AND step = ? AND item = -1`
export const STEPS_FROM = `${STEP}
   WHERE flow_id = ? AND step >= ? AND item = -1 ORDER BY step LIMIT ?`
export const STEPS_IN_STATE = `${STEP}
   WHERE flow_id = ? AND step >= ? AND item = -1 AND state = ? ORDER BY step LIMIT ?`
export const ITEMS_IN_STATE = `${STEP}
   WHERE flow_id = ? AND step = ? AND item >= 0 AND state = ? ORDER BY item LIMIT ?`
export const COUNT_ITEMS = `
  SELECT step, state, COUNT(*) AS count FROM step
   WHERE flow_id = ? AND step = ? AND item >= 0 GROUP BY state`
export const COUNT_STEPS = `
  SELECT state, COUNT(*) AS count FROM step WHERE flow_id = ? AND item = -1 GROUP BY state`
export const STEPS_OF_RUN = `
  SELECT flow_id AS workflowId, step, item, run_id AS runId FROM step WHERE run_id = ?`
export const RESULT_OF = `SELECT id AS runId, status, result FROM run WHERE id = ? AND status >= 4`

/** Sorts before every step. */
const START = { step: -1, item: -1 }

type Queries = Pick<
  WorkflowStore,
  | ('findWorkflows' | 'workflowSteps' | 'countSteps' | 'stepsAt' | 'stepsFrom' | 'countItems')
  | ('failedItems' | 'stepsOfRuns' | 'resultsOf')
>
type StepRow = Omit<StepRecord, 'state' | 'isUnprocessed'> & {
  state: number
  isUnprocessed: number
}
type CountRow = { state: number; count: number }
type ResultRow = Omit<RunResult, 'state'> & { status: number }
export type WorkflowRow = Omit<WorkflowRecord, 'cancelling'> & { cancelling: number }

export function prepareWorkflowQueries(db: Database): Sync<Queries> {
  const find = db.prepare<[number], WorkflowRow>(FIND_WORKFLOW)
  const behind = db.prepare<[number, number, number, number], StepRow>(STEPS_BEHIND)
  const at = db.prepare<[number, number], StepRow>(STEP_AT)
  const from = db.prepare<[number, number, number], StepRow>(STEPS_FROM)
  const inState = db.prepare<[number, number, number, number], StepRow>(STEPS_IN_STATE)
  const items = db.prepare<[number, number, number, number], StepRow>(ITEMS_IN_STATE)
  const count = db.prepare<[number], CountRow>(COUNT_STEPS)
  const countItems = db.prepare<[number, number], CountRow & { step: number }>(COUNT_ITEMS)
  const ofRun = db.prepare<[number], ReturnType<Sync<Queries>['stepsOfRuns']>[number]>(STEPS_OF_RUN)
  const resultOf = db.prepare<[number], ResultRow>(RESULT_OF)
  return {
    findWorkflows: ({ runIds }) => runIds.flatMap((runId) => find.all(runId)).map(toWorkflow),
    workflowSteps: ({ workflowId, after, limit }) => {
      const { step, item } = after ?? START
      return behind.all(workflowId, step, item, limit).map(toStep)
    },
    countSteps: ({ workflowId }) =>
      count.all(workflowId).map((row) => ({ ...row, state: stepStateOf(row.state) })),
    stepsAt: ({ workflowId, steps }) =>
      steps.flatMap((step) => at.all(workflowId, step)).map(toStep),
    stepsFrom: ({ workflowId, from: first, state, limit }) => {
      const rows =
        state === null
          ? from.all(workflowId, first, limit)
          : inState.all(workflowId, first, STEP_CODE[state], limit)
      return rows.map(toStep)
    },
    countItems: ({ workflowId, steps }) =>
      steps
        .flatMap((step) => countItems.all(workflowId, step))
        .map((row) => ({ ...row, state: stepStateOf(row.state) })),
    failedItems: ({ workflowId, steps, each }) =>
      steps.flatMap((step) => items.all(workflowId, step, STEP_CODE.failed, each)).map(toStep),
    stepsOfRuns: ({ runIds }) => runIds.flatMap((runId) => ofRun.all(runId)),
    resultsOf: ({ runIds }) => runIds.flatMap((runId) => resultOf.all(runId)).map(toResult),
  }
}

export function toWorkflow(row: WorkflowRow): WorkflowRecord {
  return { ...row, cancelling: row.cancelling === 1 }
}

function toStep(row: StepRow): StepRecord {
  return { ...row, state: stepStateOf(row.state), isUnprocessed: row.isUnprocessed === 1 }
}

function toResult({ status, ...row }: ResultRow): RunResult {
  return { ...row, state: stateOfCode(status) as FinalState }
}
