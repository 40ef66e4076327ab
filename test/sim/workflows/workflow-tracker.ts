import type { Database } from 'better-sqlite3'
import type { StepFact } from '../../../src/core/workflow/progress/step-facts.ts'
import type { NamedRetryScope } from '../../../src/core/work/workflow-work.ts'
import type { DrawnWorkflow } from './draw-workflow.ts'

/** A workflow run as the simulator knows it from the rows read so far. */
export interface TrackedWorkflow {
  readonly workflowId: number
  readonly drawn: DrawnWorkflow
  readonly wave: number
  readonly retryOf: number | null
  /** The retry scope; null for all steps, and for a workflow that retries none. */
  readonly names: NamedRetryScope | null
  /** By `step` or `step.item`. */
  readonly facts: Map<string, StepFact>
  /** The run of each place, by the same key. */
  readonly runs: Map<string, number>
  isEnded: boolean
}

interface Row {
  readonly job: string
  readonly wave: number
  readonly retryOf: number | null
  readonly work: string | null
}

export interface TrackedRunState {
  readonly status: number
  readonly cause: string | null
  readonly isCancelling: number
  readonly deadline: number | null
}

const FIND = `
  SELECT job.name AS job, wave, retry_of AS retryOf, work
    FROM flow JOIN run ON run.id = flow.run_id JOIN job ON job.id = flow.job_id
   WHERE flow.run_id = ?`
const ASK = `
  SELECT status, cause, cancelling AS isCancelling, began_at + timeout_ms AS deadline
    FROM flow JOIN run ON run.id = flow.run_id WHERE flow.run_id = ?`

export interface WorkflowTracker {
  readonly all: ReadonlyMap<number, TrackedWorkflow>
  open(): TrackedWorkflow[]
  begin(workflowId: number): TrackedWorkflow
  /** The current state of its run. */
  ask(workflowId: number): TrackedRunState
}

export function createWorkflowTracker(
  db: Database,
  drawn: readonly DrawnWorkflow[],
): WorkflowTracker {
  const find = db.prepare<[number], Row>(FIND)
  const ask = db.prepare<[number], TrackedRunState>(ASK)
  const byName = new Map(drawn.map((one) => [one.name, one]))
  const all = new Map<number, TrackedWorkflow>()
  return {
    all,
    open: () => [...all.values()].filter(({ isEnded }) => !isEnded),
    begin(workflowId) {
      const { job, wave, retryOf, work } = find.get(workflowId) as Row
      const said = work === null ? {} : (JSON.parse(work) as { retry?: NamedRetryScope })
      const tracked: TrackedWorkflow = {
        workflowId,
        wave,
        retryOf,
        drawn: byName.get(job) as DrawnWorkflow,
        names: said.retry ?? null,
        facts: new Map(),
        runs: new Map(),
        isEnded: false,
      }
      all.set(workflowId, tracked)
      return tracked
    },
    ask: (workflowId) => ask.get(workflowId) as TrackedRunState,
  }
}
