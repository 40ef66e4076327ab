import type {
  AdvanceResult,
  WorkflowOutcome,
  WorkflowTransition,
  WorkflowRevision,
  WorkflowRecord,
  NewRun,
  StepMark,
  StepRecord,
} from '../../port.ts'
import { only } from '../fixture.ts'
import type { StoreWorld } from '../world.ts'

export const SUCCEEDED_OUTCOME: WorkflowOutcome = {
  state: 'succeeded',
  cause: null,
  message: null,
  result: null,
}
/** How long ended steps may stay unprocessed in these tests. */
export const UNPROCESSED_MS = 1_000

/** A world with a lane that no worker claims from. */
export interface ContractWorkflowWorld extends StoreWorld {
  readonly workflowLane: number
  /** Submits a run and begins it as a workflow. */
  begin(overrides?: Partial<NewRun>): Promise<WorkflowRecord>
  beginAll(limit?: number): Promise<readonly WorkflowRecord[]>
  advance(...moves: WorkflowTransition[]): Promise<AdvanceResult>
  workflow(runId: number): Promise<WorkflowRecord>
  steps(workflowId: number): Promise<readonly StepRecord[]>
  /** Begins a workflow with some steps under way: one run each, in the ordinary lane. */
  beginWith(steps: number): Promise<{ workflow: WorkflowRevision; runs: NewRun[] }>
  dirty(): Promise<readonly number[]>
}

export async function withWorkflows(world: StoreWorld): Promise<ContractWorkflowWorld> {
  const { store, node, projectName: project } = world
  const executor = 'workflow'
  const spec = { project, queue: 'default', labels: [], executor, weight: 1 }
  const workflowLane = only(await store.internLanes([spec]))
  const own: ContractWorkflowWorld = {
    ...world,
    workflowLane,
    begin: async (overrides) => {
      await world.submit(world.newRun({ laneId: workflowLane, ...overrides }))
      return only(await own.beginAll())
    },
    beginAll: (limit = 100) => store.beginWorkflows({ node, lanes: [workflowLane], limit }),
    advance: (...moves) => store.advanceWorkflows({ node, transitions: moves }),
    workflow: async (runId) => only(await store.findWorkflows({ runIds: [runId] })),
    steps: (workflowId) => store.workflowSteps({ workflowId, after: null, limit: 1_000 }),
    beginWith: async (steps) => {
      const { runId, revision } = await own.begin()
      const runs = world.newRuns(steps)
      const starts = runs.map((run, step) => ({ step, item: -1, run }))
      await own.advance(transitionFrom({ runId, revision }, { starts }))
      return { workflow: { runId, revision: revision + 1 }, runs }
    },
    dirty: async () => {
      const places = await store.dirtyWorkflows({ limit: 100, olderThanMs: UNPROCESSED_MS })
      return places.map(({ runId }) => runId)
    },
  }
  return own
}

export function transitionFrom(
  place: WorkflowRevision,
  what: Partial<WorkflowTransition> = {},
): WorkflowTransition {
  const { runId, revision } = place
  return {
    runId,
    revision,
    processed: [],
    starts: [],
    marks: [],
    checkAt: null,
    end: null,
    ...what,
  }
}

export function stepMark(
  step: number,
  state: StepMark['state'],
  more: Partial<StepMark> = {},
): StepMark {
  const nothing = { runId: null, reason: null, message: null, count: null, dueAt: null }
  return { step, item: -1, state, ...nothing, detail: null, ...more }
}
