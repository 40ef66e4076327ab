import type {
  FlowAdvance,
  FlowEnd,
  FlowMove,
  FlowPlace,
  FlowRecord,
  NewRun,
  StepMark,
  StepRecord,
} from '../port.ts'
import { only } from './fixture.ts'
import type { World } from './world.ts'

export const ENDED_WELL: FlowEnd = { state: 'succeeded', cause: null, message: null, result: null }
/** How long the news of a step may be left alone in these tests. */
export const UNHEARD_MS = 1_000

/** A world with a lane that no worker claims from. */
export interface FlowWorld extends World {
  readonly flowLane: number
  /** Submits a run and begins it as a flow. */
  begin(overrides?: Partial<NewRun>): Promise<FlowRecord>
  beginAll(limit?: number): Promise<readonly FlowRecord[]>
  advance(...moves: FlowMove[]): Promise<FlowAdvance>
  flow(runId: number): Promise<FlowRecord>
  steps(flowId: number): Promise<readonly StepRecord[]>
  /** Begins a flow with some steps under way: one run each, in the ordinary lane. */
  beginWith(steps: number): Promise<{ flow: FlowPlace; runs: NewRun[] }>
  restless(): Promise<readonly number[]>
}

export async function withFlows(world: World): Promise<FlowWorld> {
  const { store, node, projectName: project } = world
  const executor = 'workflow'
  const spec = { project, queue: 'default', labels: [], executor, weight: 1 }
  const flowLane = only(await store.internLanes([spec]))
  const own: FlowWorld = {
    ...world,
    flowLane,
    begin: async (overrides) => {
      await world.submit(world.newRun({ laneId: flowLane, ...overrides }))
      return only(await own.beginAll())
    },
    beginAll: (limit = 100) => store.beginFlows({ node, lanes: [flowLane], limit }),
    advance: (...moves) => store.advanceFlows({ node, moves }),
    flow: async (runId) => only(await store.findFlows({ runIds: [runId] })),
    steps: (flowId) => store.flowSteps({ flowId, after: null, limit: 1_000 }),
    beginWith: async (steps) => {
      const { runId, revision } = await own.begin()
      const runs = world.newRuns(steps)
      const starts = runs.map((run, step) => ({ step, item: -1, run }))
      await own.advance(move({ runId, revision }, { starts }))
      return { flow: { runId, revision: revision + 1 }, runs }
    },
    restless: async () => {
      const places = await store.restlessFlows({ limit: 100, olderThanMs: UNHEARD_MS })
      return places.map(({ runId }) => runId)
    },
  }
  return own
}

export function move(place: FlowPlace, what: Partial<FlowMove> = {}): FlowMove {
  const { runId, revision } = place
  return { runId, revision, heard: [], starts: [], marks: [], lookAt: null, end: null, ...what }
}

export function mark(
  step: number,
  state: StepMark['state'],
  more: Partial<StepMark> = {},
): StepMark {
  const nothing = { runId: null, reason: null, message: null, count: null, dueAt: null }
  return { step, item: -1, state, ...nothing, detail: null, ...more }
}
