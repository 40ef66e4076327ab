import type { Database } from 'better-sqlite3'
import type { StepFact } from '../../../src/core/workflow/step-facts.ts'
import type { RetryNames } from '../../../src/core/work/workflow-work.ts'
import type { Drawn } from './draw-workflow.ts'

/** One flow as the simulator knows it: from what the store wrote, as far as it has been read. */
export interface FlowStory {
  readonly flowId: number
  readonly drawn: Drawn
  readonly wave: number
  readonly retryOf: number | null
  /** What of the repeated flow goes again; null for everything, and for flows that repeat none. */
  readonly names: RetryNames | null
  /** By `step`, or `step.item`. */
  readonly facts: Map<string, StepFact>
  /** By the same, the run of it. */
  readonly runs: Map<string, number>
  isEnded: boolean
}

interface Row {
  readonly job: string
  readonly wave: number
  readonly retryOf: number | null
  readonly work: string | null
}

export interface Circumstances {
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

export interface FlowBook {
  readonly all: ReadonlyMap<number, FlowStory>
  open(): FlowStory[]
  begin(flowId: number): FlowStory
  /** How its run stands now. */
  ask(flowId: number): Circumstances
}

export function createFlowBook(db: Database, drawn: readonly Drawn[]): FlowBook {
  const find = db.prepare<[number], Row>(FIND)
  const ask = db.prepare<[number], Circumstances>(ASK)
  const byName = new Map(drawn.map((one) => [one.name, one]))
  const all = new Map<number, FlowStory>()
  return {
    all,
    open: () => [...all.values()].filter(({ isEnded }) => !isEnded),
    begin(flowId) {
      const { job, wave, retryOf, work } = find.get(flowId) as Row
      const said = work === null ? {} : (JSON.parse(work) as { retry?: RetryNames })
      const story: FlowStory = {
        ...{ flowId, wave, retryOf, drawn: byName.get(job) as Drawn },
        names: said.retry ?? null,
        ...{ facts: new Map(), runs: new Map(), isEnded: false },
      }
      all.set(flowId, story)
      return story
    },
    ask: (flowId) => ask.get(flowId) as Circumstances,
  }
}
