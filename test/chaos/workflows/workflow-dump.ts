import Sqlite from 'better-sqlite3'
import { publicId, stateName } from '../dump.ts'
import { withClient } from '../dump-postgres.ts'

/** Flows at rest, read without the product's help. Runs by their public ids. */
export interface FlowDump {
  readonly flows: readonly DumpedFlow[]
  readonly steps: readonly DumpedStep[]
}

export interface DumpedFlow {
  readonly flow: string
  readonly job: string
  readonly wave: number
  readonly retryOf: string | null
  /** Whether only what failed goes again. */
  readonly isOfFailed: boolean
  readonly isCancelled: boolean
  /** Between the last thing that became of a step and its end, by the clock of the database. */
  readonly closedMs: number
}

export interface DumpedStep {
  readonly flow: string
  readonly step: number
  readonly item: number
  readonly state: string
  readonly run: string | null
  readonly reason: string | null
  readonly count: number | null
}

interface FlowRow {
  readonly id: number
  readonly job: string
  readonly wave: number
  readonly retryOf: number | null
  readonly work: string | null
  readonly isCancelled: number | boolean
  readonly closedMs: number
}

interface StepRow {
  readonly flowId: number
  readonly step: number
  readonly item: number
  readonly state: number
  readonly runId: number | null
  readonly reason: string | null
  readonly count: number | null
}

/** In the order in which they began. Only SQLite keeps with the run whether it was to be cancelled. */
const flowsOf = (cancelling: string) => `
  SELECT flow.run_id AS id, job.name AS job, wave, retry_of AS "retryOf", work,
         ${cancelling} AS "isCancelled",
         ended_at - coalesce((SELECT max(finished_at) FROM step WHERE flow_id = flow.run_id),
                             ended_at) AS "closedMs"
    FROM flow JOIN run ON run.id = flow.run_id JOIN job ON job.id = flow.job_id
   ORDER BY began_at, flow.run_id`
const STEPS = `
  SELECT flow_id AS "flowId", step, item, state, run_id AS "runId", reason, count FROM step
   ORDER BY flow_id, step, item`

export async function dumpFlows(storeUrl: string): Promise<FlowDump> {
  if (!storeUrl.startsWith('sqlite:')) {
    return withClient(storeUrl, async (client) => {
      const { rows: flows } = await client.query<FlowRow>(flowsOf('flow.cancelling'))
      const { rows: steps } = await client.query<StepRow>(STEPS)
      return toDump(flows, steps)
    })
  }
  const db = new Sqlite(storeUrl.slice('sqlite:'.length), { fileMustExist: true, readonly: true })
  try {
    const flows = db.prepare<[], FlowRow>(flowsOf('run.cancelling')).all()
    return toDump(flows, db.prepare<[], StepRow>(STEPS).all())
  } finally {
    db.close()
  }
}

function toDump(flows: readonly FlowRow[], steps: readonly StepRow[]): FlowDump {
  return {
    flows: flows.map(({ id, retryOf, work, isCancelled, ...flow }) => ({
      ...flow,
      flow: publicId(id),
      retryOf: retryOf === null ? null : publicId(retryOf),
      isOfFailed: work !== null && 'retry' in (JSON.parse(work) as object),
      isCancelled: Boolean(isCancelled),
    })),
    steps: steps.map(({ flowId, runId, state, ...step }) => ({
      ...step,
      flow: publicId(flowId),
      run: runId === null ? null : publicId(runId),
      state: stateName(state),
    })),
  }
}
