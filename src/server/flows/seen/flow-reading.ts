import { PunctualError } from '../../../core/errors.ts'
import { WHOLE } from '../../../core/flow/facts.ts'
import {
  type FlowView,
  type ShownStepState,
  STEP_STATES,
  type StepCounts,
  type StepPlace,
  type WireStep,
  type WireStepItem,
} from '../../../core/flow/step-views.ts'
import type { StepStory } from '../../../core/flow/step-words.ts'
import type { TimelineRow } from '../../../core/flow/timeline.ts'
import { FLOW_EXECUTOR } from '../../../core/flow/work.ts'
import { publicId } from '../../../core/ids.ts'
import { isFinal } from '../../../core/run-state.ts'
import type { WirePage } from '../../../core/views.ts'
import type { Step } from '../../../core/workflow/workflow.ts'
import type { RunRecord, Store } from '../../../store/port.ts'
import { type Paging } from '../../admin/jobs.ts'
import { pageLimit, pageOf } from '../../admin/paging.ts'
import type { Catalog } from '../../catalog.ts'
import { readCountCursor } from '../../cursor.ts'
import { findRun } from '../../find-run.ts'
import type { FlowStanding } from '../../why-flow.ts'
import { readSteps } from '../read-steps.ts'
import type { Compiled, WorkflowBook } from '../workflow-book.ts'
import { findStepRuns, NO_RUNS } from './find-step-runs.ts'
import { type SeenStep, sortFacts } from './flow-facts.ts'
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
}

export function createFlowReading({ store, catalog, book }: Deps): FlowReading {
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

  const look = async (run: RunRecord, compiled: Compiled): Promise<SeenFlow> => {
    const facts = sortFacts(compiled.graph, await readSteps(store, run.id))
    return { compiled, facts, progress: progressOf(run) }
  }

  const showSteps = async (run: RunRecord, seen: SeenFlow, steps: readonly number[]) => {
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
    const counts = Object.fromEntries(STEP_STATES.map((state) => [state, 0]))
    let reached = 0
    for (const { state, count } of await store.countSteps({ flowId: run.id })) {
      counts[state] = count
      reached += count
    }
    const { size: total } = compiled.graph
    const steps = { total, ...counts, untouched: total - reached } as FlowView['steps']
    return { wave: flow?.wave ?? null, steps }
  }

  /** Of several it is the one for which it was made: the others took it over. */
  const stepOf = async (run: RunRecord): Promise<StepPlace | null> => {
    const places = await store.stepsOfRuns({ runIds: [run.id] })
    const [place] = places.toSorted((a, b) => a.flowId - b.flowId)
    const [flow] = place ? await store.findRuns({ runIds: [place.flowId] }) : []
    const compiled = flow && (await compiledOf(flow))
    if (!place || !flow || !compiled) return null
    const { name } = compiled.workflow.steps[place.step] as Step
    const item = place.item === WHOLE ? null : place.item
    return { run: publicId('run', flow.id), name, item }
  }

  return {
    flowOf,
    stepOf,

    async standingOf(run) {
      const compiled = await compiledOf(run)
      if (!compiled) return null
      const seen = await look(run, compiled)
      const first = (state: ShownStepState) =>
        seen.facts.rows
          .filter((row) => row.state === state)
          .slice(0, MOST_NAMED)
          .map(({ step }) => showStep(seen, step, NO_RUNS))
      return {
        job: catalog.jobName(run.jobId),
        steps: countRows(seen.facts.rows),
        waiting: first('waiting').map(({ name, sentence }) => ({ name, sentence: sentence ?? '' })),
        running: first('running').map(({ name }) => name),
      }
    },

    async steps(project, id, { state, limit, cursor }) {
      const from = readCountCursor(cursor)
      const run = await find(project, id)
      const compiled = await compiledOf(run)
      if (!compiled) return { data: [], next_cursor: null }
      const seen = await look(run, compiled)
      const size = pageLimit(limit)
      const wanted = seen.facts.rows
        .filter((row) => row.step >= from && (state === undefined || row.state === state))
        .slice(0, size + 1)
        .map(({ step }) => step)
      const shown = await showSteps(run, seen, wanted)
      return pageOf(
        shown,
        size,
        (step) => step,
        ({ name }) => (compiled.indexOf.get(name) as number) + 1,
      )
    },

    async step(project, id, name) {
      const { run, compiled, step } = await findStep(project, id, name)
      const [shown] = await showSteps(run, await look(run, compiled), [step])
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

function countRows(rows: readonly TimelineRow[]): StepCounts {
  const counts = Object.fromEntries(STEP_STATES.map((state) => [state, 0]))
  for (const { state } of rows) counts[state] = (counts[state] ?? 0) + 1
  return { total: rows.length, ...counts } as StepCounts
}

function progressOf({ state }: RunRecord): StepStory['flow'] {
  if (isFinal(state)) return 'over'
  return state === 'running' ? 'begun' : 'waiting'
}
