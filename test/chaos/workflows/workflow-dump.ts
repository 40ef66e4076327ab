import Sqlite from 'better-sqlite3'
import { toPublicId, stateName } from '../dump.ts'
import { withClient } from '../dump-postgres.ts'

/** Workflow runs after all ended, read without product code. Runs by their public ids. */
export interface WorkflowDump {
  readonly workflowRuns: readonly DumpedWorkflow[]
  readonly steps: readonly DumpedStep[]
}

export interface DumpedWorkflow {
  readonly workflow: string
  readonly job: string
  readonly wave: number
  readonly retryOf: string | null
  /** Whether only the failed steps are retried. */
  readonly isOfFailed: boolean
  readonly isCancelled: boolean
  /** From the last change of a step to the end of the workflow, by the database's clock. */
  readonly closedMs: number
}

export interface DumpedStep {
  readonly workflow: string
  readonly step: number
  readonly item: number
  readonly state: string
  readonly run: string | null
  readonly reason: string | null
  readonly count: number | null
}

interface WorkflowRow {
  readonly id: number
  readonly job: string
  readonly wave: number
  readonly retryOf: number | null
  readonly work: string | null
  readonly isCancelled: number | boolean
  readonly closedMs: number
}

interface StepRow {
  readonly workflowId: number
  readonly step: number
  readonly item: number
  readonly state: number
  readonly runId: number | null
  readonly reason: string | null
  readonly count: number | null
}

/** In the order in which they began. Only SQLite stores with the run whether a cancel was requested. */
const workflowsQuery = (cancelling: string) => `
  SELECT flow.run_id AS id, job.name AS job, wave, retry_of AS "retryOf", work,
         ${cancelling} AS "isCancelled",
         ended_at - coalesce((SELECT max(finished_at) FROM step WHERE flow_id = flow.run_id),
                             ended_at) AS "closedMs"
    FROM flow JOIN run ON run.id = flow.run_id JOIN job ON job.id = flow.job_id
   ORDER BY began_at, flow.run_id`
const STEPS = `
  SELECT flow_id AS "workflowId", step, item, state, run_id AS "runId", reason, count FROM step
   ORDER BY flow_id, step, item`

export async function dumpWorkflows(storeUrl: string): Promise<WorkflowDump> {
  if (!storeUrl.startsWith('sqlite:')) {
    return withClient(storeUrl, async (client) => {
      const { rows: workflowRuns } = await client.query<WorkflowRow>(
        workflowsQuery('flow.cancelling'),
      )
      const { rows: steps } = await client.query<StepRow>(STEPS)
      return toDump(workflowRuns, steps)
    })
  }
  const db = new Sqlite(storeUrl.slice('sqlite:'.length), { fileMustExist: true, readonly: true })
  try {
    const workflowRuns = db.prepare<[], WorkflowRow>(workflowsQuery('run.cancelling')).all()
    return toDump(workflowRuns, db.prepare<[], StepRow>(STEPS).all())
  } finally {
    db.close()
  }
}

function toDump(workflowRuns: readonly WorkflowRow[], steps: readonly StepRow[]): WorkflowDump {
  return {
    workflowRuns: workflowRuns.map(({ id, retryOf, work, isCancelled, ...workflow }) => ({
      ...workflow,
      workflow: toPublicId(id),
      retryOf: retryOf === null ? null : toPublicId(retryOf),
      isOfFailed: work !== null && 'retry' in (JSON.parse(work) as object),
      isCancelled: Boolean(isCancelled),
    })),
    steps: steps.map(({ workflowId, runId, state, ...step }) => ({
      ...step,
      workflow: toPublicId(workflowId),
      run: runId === null ? null : toPublicId(runId),
      state: stateName(state),
    })),
  }
}
