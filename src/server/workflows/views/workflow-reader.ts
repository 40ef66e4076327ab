import type { Clock } from '../../../core/clock.ts'
import { PunctualError } from '../../../core/errors.ts'
import { WHOLE_STEP } from '../../../core/workflow/progress/step-facts.ts'
import { type WireStep, type WireStepItem } from '../../../core/workflow/views/step-views.ts'
import {
  type StepIdentity,
  type WorkflowView,
  type ShownStepState,
  type StepCounts,
} from '../../../core/wire/workflow-view.ts'
import type { StepState } from '../../../core/run/step-state.ts'
import type { StepSituation } from '../../../core/workflow/views/describe-step.ts'
import { WORKFLOW_EXECUTOR } from '../../../core/work/workflow-work.ts'
import { publicId } from '../../../core/ids.ts'
import { isFinal } from '../../../core/run/run-state.ts'
import type { WirePage } from '../../../core/wire/views.ts'
import type { Step } from '../../../core/workflow/workflow.ts'
import type { RunRecord, Store } from '../../../store/port.ts'
import { pageLimit, pageOf, type Paging } from '../../paging/paging.ts'
import type { CatalogCache } from '../../catalog/catalog-cache.ts'
import { readCountCursor } from '../../paging/cursor.ts'
import { findProjectRun } from '../../runs/find-run.ts'
import type { CompiledWorkflow, CompiledWorkflowCache } from '../compiled-workflow-cache.ts'
import { chooseSteps } from './choose-steps.ts'
import { createCountSteps } from './count-steps.ts'
import { findBlockedRun } from './find-blocked-run.ts'
import { findStepRuns, NO_RUNS } from './find-step-runs.ts'
import { readStepFacts, type StepSnapshot } from './read-step-facts.ts'
import { type WorkflowSnapshot, showItem, showStep } from './show-step.ts'

/** The state of a workflow, as far as it explains what the workflow waits for. */
export interface WorkflowStatus {
  readonly job: string
  readonly steps: StepCounts
  /** The first steps that wait for an approval, each with its explanation. */
  readonly waiting: readonly { readonly name: string; readonly sentence: string }[]
  /** The first steps that are running. */
  readonly running: readonly string[]
  /** The waiting run of such a step, if none of the examined steps makes progress. */
  readonly blocked: { readonly step: string; readonly run: RunRecord } | null
}

/** Reads workflows and their steps for users. */
export interface WorkflowReader {
  /** Progress of a workflow run; null for any other run. */
  workflowOf(run: RunRecord): Promise<WorkflowView | null>
  /** The workflow step that a run belongs to. */
  stepOf(run: RunRecord): Promise<StepIdentity | null>
  /** What a workflow is doing. */
  statusOf(run: RunRecord): Promise<WorkflowStatus | null>
  /** Steps in definition order. Runs that are no workflows have none. */
  steps(project: string, id: string, query: StepPageQuery): Promise<WirePage<WireStep>>
  step(project: string, id: string, name: string): Promise<WireStep>
  /** The items of a fan-out that were reached. */
  items(project: string, id: string, name: string, paging: Paging): Promise<WirePage<WireStepItem>>
}

export interface StepPageQuery extends Paging {
  readonly state?: ShownStepState | undefined
}

interface Deps {
  readonly store: Store
  readonly catalog: CatalogCache
  readonly compiledWorkflows: CompiledWorkflowCache
  readonly clock: Pick<Clock, 'mono'>
}

export function createWorkflowReader({
  store,
  catalog,
  compiledWorkflows,
  clock,
}: Deps): WorkflowReader {
  const countSteps = createCountSteps({ store, clock })

  const compiledOf: FindCompiled = async ({ laneId, jobId, version }) => {
    const lane = await catalog.lane(laneId)
    if (lane?.executor !== WORKFLOW_EXECUTOR || version === null) return null
    await catalog.learnNames([jobId], [])
    try {
      return await compiledWorkflows.find({ jobId, version, job: catalog.jobName(jobId) })
    } catch (error) {
      // A version that cannot be read any more has no steps to show, but its run is still shown.
      if (error instanceof PunctualError && error.status < 500) return null
      throw error
    }
  }

  const workflowOf = async (run: RunRecord): Promise<WorkflowView | null> => {
    const compiled = await compiledOf(run)
    if (!compiled) return null
    const [workflow] = await store.findWorkflows({ runIds: [run.id] })
    return { wave: workflow?.wave ?? null, steps: await countSteps(run, compiled.graph.size) }
  }

  /** If several workflows share the run, the one for which it was made: the others reused it. */
  const stepOf = async (run: RunRecord): Promise<StepIdentity | null> => {
    const places = await store.stepsOfRuns({ runIds: [run.id] })
    const [place] = places.toSorted((a, b) => a.workflowId - b.workflowId)
    const [workflow] = place ? await store.findRuns({ runIds: [place.workflowId] }) : []
    const compiled = workflow && (await compiledOf(workflow))
    if (!place || !workflow || !compiled) return null
    const item = place.item === WHOLE_STEP ? null : place.item
    return { run: publicId('run', workflow.id), name: nameOf(compiled, place.step), item }
  }

  return {
    workflowOf,
    stepOf,

    async statusOf(run) {
      const compiled = await compiledOf(run)
      if (!compiled) return null
      const first = async (state: StepState) => {
        const some = { workflowId: run.id, from: 0, state, limit: MOST_NAMED }
        return (await store.stepsFrom(some)).map(({ step }) => step)
      }
      const waiting = await first('waiting')
      const running = await first('running')
      const seen = await readFacts(run, compiled, waiting, store)
      const blockedStep = await findBlockedRun(store, run.id, running)
      return {
        job: catalog.jobName(run.jobId),
        steps: await countSteps(run, compiled.graph.size),
        waiting: waiting.map((step) => {
          const { name, sentence } = showStep(seen, step, NO_RUNS)
          return { name, sentence: sentence ?? '' }
        }),
        running: running.map((step) => nameOf(compiled, step)),
        blocked: blockedStep && { step: nameOf(compiled, blockedStep.step), run: blockedStep.run },
      }
    },

    ...createStepReader({ store, catalog, compiledOf }),
  }
}

/** The definition of a workflow run; null for a run that is no workflow. */
type FindCompiled = (run: RunRecord) => Promise<CompiledWorkflow | null>

/** The steps of workflows, and their items. */
function createStepReader({
  store,
  catalog,
  compiledOf,
}: Pick<Deps, 'store' | 'catalog'> & { readonly compiledOf: FindCompiled }): Pick<
  WorkflowReader,
  'steps' | 'step' | 'items'
> {
  const find = (project: string, id: string) => findProjectRun(project, id, { store, catalog })

  const findStep = async (project: string, id: string, name: string) => {
    const run = await find(project, id)
    const compiled = await compiledOf(run)
    const step = compiled?.indexOf.get(name)
    if (!compiled || step === undefined) {
      throw new PunctualError('step_not_found', `${id} has no step ${name.slice(0, 128)}`)
    }
    return { run, compiled, step }
  }

  return {
    async steps(project, id, { state, limit, cursor }) {
      const from = readCountCursor(cursor)
      const run = await find(project, id)
      const compiled = await compiledOf(run)
      if (!compiled) return { data: [], next_cursor: null }
      const size = pageLimit(limit)
      const wanted = { from, limit: size + 1, state }
      const steps = await chooseSteps(store, { workflowId: run.id, graph: compiled.graph }, wanted)
      const shown = await showSteps(run, compiled, steps.slice(0, size), store)
      return pageOf(
        steps.map((step, nth) => ({ step, nth })),
        size,
        ({ nth }) => shown[nth] as WireStep,
        ({ step }) => step + 1,
      )
    },

    async step(project, id, name) {
      const { run, compiled, step } = await findStep(project, id, name)
      const [shown] = await showSteps(run, compiled, [step], store)
      return shown as WireStep
    },

    async items(project, id, name, { limit, cursor }) {
      const from = readCountCursor(cursor)
      const { run, step } = await findStep(project, id, name)
      const size = pageLimit(limit)
      const after = { step, item: from - 1 }
      const rows = await store.workflowSteps({ workflowId: run.id, after, limit: size + 1 })
      const items = rows.filter((row) => row.step === step) as StepSnapshot[]
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

async function readFacts(
  run: RunRecord,
  compiled: CompiledWorkflow,
  steps: readonly number[],
  store: Store,
): Promise<WorkflowSnapshot> {
  const facts = await readStepFacts(store, { workflowId: run.id, graph: compiled.graph }, steps)
  return { compiled, facts, progress: progressOf(run) }
}

async function showSteps(
  run: RunRecord,
  compiled: CompiledWorkflow,
  steps: readonly number[],
  store: Store,
): Promise<WireStep[]> {
  const seen = await readFacts(run, compiled, steps, store)
  const { wholeOf, failedOf } = seen.facts
  const places = steps.flatMap((step) => [wholeOf(step) ?? NOWHERE, ...failedOf(step)])
  const runs = await findStepRuns(store, run.id, places)
  return steps.map((step) => showStep(seen, step, runs))
}

const NOWHERE = { runId: null }
const MOST_NAMED = 3

function nameOf({ workflow }: CompiledWorkflow, step: number): string {
  return (workflow.steps[step] as Step).name
}

function progressOf({ state }: RunRecord): StepSituation['workflow'] {
  if (isFinal(state)) return 'over'
  return state === 'running' ? 'begun' : 'waiting'
}
