import type { Clock } from '../../../core/clock.ts'
import { PunctualError } from '../../../core/errors.ts'
import { WHOLE } from '../../../core/workflow/step-facts.ts'
import {
  type FlowView,
  type ShownStepState,
  type StepPlace,
  type WireStep,
  type WireStepItem,
} from '../../../core/workflow/step-views.ts'
import type { StepState } from '../../../core/run/step-state.ts'
import type { StepStory } from '../../../core/workflow/describe-step.ts'
import { FLOW_EXECUTOR } from '../../../core/work/workflow-work.ts'
import { publicId } from '../../../core/ids.ts'
import { isFinal } from '../../../core/run/run-state.ts'
import type { WirePage } from '../../../core/wire/views.ts'
import type { Step } from '../../../core/workflow/workflow.ts'
import type { RunRecord, Store } from '../../../store/port.ts'
import { type Paging } from '../../admin/jobs.ts'
import { pageLimit, pageOf } from '../../paging/paging.ts'
import type { Catalog } from '../../catalog/catalog-cache.ts'
import { readCountCursor } from '../../paging/cursor.ts'
import { findRun } from '../../runs/find-run.ts'
import type { FlowStanding } from '../../explanations/why-workflow.ts'
import type { Compiled, WorkflowBook } from '../compiled-workflow-cache.ts'
import { chooseSteps } from './choose-steps.ts'
import { createCountSteps } from './count-steps.ts'
import { findHeldUp } from './find-blocked-run.ts'
import { findStepRuns, NO_RUNS } from './find-step-runs.ts'
import { lookAtSteps, type SeenStep } from './read-step-facts.ts'
import { type SeenFlow, showItem, showStep } from './show-step.ts'

/** Workflows and their steps, as people look at them. */
export interface FlowReading {
  /** How far a run that is a workflow has come; null for any other. */
  flowOf(run: RunRecord): Promise<FlowView | null>
  /** The workflow that a run is a step of. */
  stepOf(run: RunRecord): Promise<StepPlace | null>
  /** What a workflow is doing. */
  standingOf(run: RunRecord): Promise<FlowStanding | null>
  /** In the order of the definition. Runs that are no workflows have none. */
  steps(project: string, id: string, query: StepQuery): Promise<WirePage<WireStep>>
  step(project: string, id: string, name: string): Promise<WireStep>
  /** Of a fan-out, those that somebody has come to. */
  items(project: string, id: string, name: string, paging: Paging): Promise<WirePage<WireStepItem>>
}

export interface StepQuery extends Paging {
  readonly state?: ShownStepState | undefined
}

interface Deps {
  readonly store: Store
  readonly catalog: Catalog
  readonly book: WorkflowBook
  readonly clock: Pick<Clock, 'mono'>
}

export function createFlowReading({ store, catalog, book, clock }: Deps): FlowReading {
  const countSteps = createCountSteps({ store, clock })

  /** Null for a run that is no workflow. */
  const compiledOf = async ({ laneId, jobId, version }: RunRecord): Promise<Compiled | null> => {
    const lane = await catalog.lane(laneId)
    if (lane?.executor !== FLOW_EXECUTOR || version === null) return null
    await catalog.learnNames([jobId], [])
    try {
      return await book.find({ jobId, version, job: catalog.jobName(jobId) })
    } catch (error) {
      // A version that cannot be read any more has no steps to show, and its run is still a run.
      if (error instanceof PunctualError && error.status < 500) return null
      throw error
    }
  }

  const look = async (
    run: RunRecord,
    compiled: Compiled,
    steps: readonly number[],
  ): Promise<SeenFlow> => {
    const facts = await lookAtSteps(store, { flowId: run.id, graph: compiled.graph }, steps)
    return { compiled, facts, progress: progressOf(run) }
  }

  const showSteps = async (run: RunRecord, compiled: Compiled, steps: readonly number[]) => {
    const seen = await look(run, compiled, steps)
    const { wholeOf, failedOf } = seen.facts
    const places = steps.flatMap((step) => [wholeOf(step) ?? NOWHERE, ...failedOf(step)])
    const runs = await findStepRuns(store, run.id, places)
    return steps.map((step) => showStep(seen, step, runs))
  }

  const find = (project: string, id: string) => findRun(project, id, { store, catalog })

  const findStep = async (project: string, id: string, name: string) => {
    const run = await find(project, id)
    const compiled = await compiledOf(run)
    const step = compiled?.indexOf.get(name)
    if (!compiled || step === undefined) {
      throw new PunctualError('step_not_found', `${id} has no step ${name.slice(0, 128)}`)
    }
    return { run, compiled, step }
  }

  const flowOf = async (run: RunRecord): Promise<FlowView | null> => {
    const compiled = await compiledOf(run)
    if (!compiled) return null
    const [flow] = await store.findFlows({ runIds: [run.id] })
    return { wave: flow?.wave ?? null, steps: await countSteps(run, compiled.graph.size) }
  }

  /** Of several it is the one for which it was made: the others took it over. */
  const stepOf = async (run: RunRecord): Promise<StepPlace | null> => {
    const places = await store.stepsOfRuns({ runIds: [run.id] })
    const [place] = places.toSorted((a, b) => a.flowId - b.flowId)
    const [flow] = place ? await store.findRuns({ runIds: [place.flowId] }) : []
    const compiled = flow && (await compiledOf(flow))
    if (!place || !flow || !compiled) return null
    const item = place.item === WHOLE ? null : place.item
    return { run: publicId('run', flow.id), name: nameOf(compiled, place.step), item }
  }

  return {
    flowOf,
    stepOf,

    async standingOf(run) {
      const compiled = await compiledOf(run)
      if (!compiled) return null
      const first = async (state: StepState) => {
        const some = { flowId: run.id, from: 0, state, limit: MOST_NAMED }
        return (await store.stepsFrom(some)).map(({ step }) => step)
      }
      const waiting = await first('waiting')
      const running = await first('running')
      const seen = await look(run, compiled, waiting)
      const heldUp = await findHeldUp(store, run.id, running)
      return {
        job: catalog.jobName(run.jobId),
        steps: await countSteps(run, compiled.graph.size),
        waiting: waiting.map((step) => {
          const { name, sentence } = showStep(seen, step, NO_RUNS)
          return { name, sentence: sentence ?? '' }
        }),
        running: running.map((step) => nameOf(compiled, step)),
        heldUp: heldUp && { step: nameOf(compiled, heldUp.step), run: heldUp.run },
      }
    },

    async steps(project, id, { state, limit, cursor }) {
      const from = readCountCursor(cursor)
      const run = await find(project, id)
      const compiled = await compiledOf(run)
      if (!compiled) return { data: [], next_cursor: null }
      const size = pageLimit(limit)
      const wanted = { from, limit: size + 1, state }
      const steps = await chooseSteps(store, { flowId: run.id, graph: compiled.graph }, wanted)
      const shown = await showSteps(run, compiled, steps.slice(0, size))
      return pageOf(
        steps.map((step, nth) => ({ step, nth })),
        size,
        ({ nth }) => shown[nth] as WireStep,
        ({ step }) => step + 1,
      )
    },

    async step(project, id, name) {
      const { run, compiled, step } = await findStep(project, id, name)
      const [shown] = await showSteps(run, compiled, [step])
      return shown as WireStep
    },

    async items(project, id, name, { limit, cursor }) {
      const from = readCountCursor(cursor)
      const { run, step } = await findStep(project, id, name)
      const size = pageLimit(limit)
      const after = { step, item: from - 1 }
      const rows = await store.flowSteps({ flowId: run.id, after, limit: size + 1 })
      const items = rows.filter((row) => row.step === step) as SeenStep[]
      const runs = await findStepRuns(store, run.id, items)
      return pageOf(
        items,
        size,
        (item) => showItem(item, progressOf(run), runs),
        ({ item }) => item + 1,
      )
    },
  }
}

const NOWHERE = { runId: null }
const MOST_NAMED = 3

function nameOf({ workflow }: Compiled, step: number): string {
  return (workflow.steps[step] as Step).name
}

function progressOf({ state }: RunRecord): StepStory['flow'] {
  if (isFinal(state)) return 'over'
  return state === 'running' ? 'begun' : 'waiting'
}
