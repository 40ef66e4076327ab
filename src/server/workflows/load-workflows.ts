import { isLasting } from '../../core/errors.ts'
import type { Json } from '../../core/expression/expression.ts'
import { createWorkflowProgress } from '../../core/workflow/progress/progress.ts'
import type { FinalState } from '../../core/run/run-state.ts'
import { localTime } from '../../core/schedule/local-time.ts'
import type { WorkflowRecord, WorkflowStore, RunQueries, StepRecord } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { Payloads } from '../payloads/payloads.ts'
import { findAncestors, NO_ANCESTORS } from './find-ancestors.ts'
import { type LoadedWorkflow, applyMark } from './loaded-workflow.ts'
import { readSteps } from './read-steps.ts'
import { createStepRuns } from './step-runs.ts'
import { findReusedMarks } from './find-reused-marks.ts'
import type { CompiledWorkflow, CompiledWorkflowCache } from './compiled-workflow-cache.ts'
import { readWorkflowWork } from './workflow-work.ts'

export interface LoadDeps {
  readonly store: Pick<WorkflowStore, 'workflowSteps' | 'findWorkflows' | 'stepsOfRuns'> &
    Pick<RunQueries, 'findRuns'>
  readonly catalog: Pick<CatalogCache, 'jobName' | 'projectName' | 'learnNames' | 'gateOf'>
  readonly compiledWorkflows: CompiledWorkflowCache
  readonly payloads: Payloads
  /** Zone of the scheduled time of runs that no schedule made. */
  readonly zone: string
  onError(error: unknown): void
}

/** A workflow that cannot continue, with the reason. */
export interface UnreadableWorkflow {
  readonly record: WorkflowRecord
  readonly problem: string
}

/**
 * Loads workflows from the store. New ones have no stored steps. A workflow that cannot be read now
 * is left out; the sweep comes back to it.
 */
export async function loadWorkflows(
  records: readonly WorkflowRecord[],
  isNew: boolean,
  deps: LoadDeps,
): Promise<(LoadedWorkflow | UnreadableWorkflow)[]> {
  if (records.length === 0) return []
  const { catalog, store } = deps
  await catalog.learnNames(
    records.map(({ jobId }) => jobId),
    records.map(({ projectId }) => projectId),
  )
  const runs = await store.findRuns({ runIds: records.map(({ runId }) => runId) })
  const times = new Map(runs.map(({ id, dueAt, createdAt }) => [id, dueAt ?? createdAt]))
  const found = await Promise.all(
    records.map(async (record): Promise<LoadedWorkflow | UnreadableWorkflow | null> => {
      const plannedAt = times.get(record.runId) ?? record.beganAt
      try {
        return await loadFlow(record, isNew, plannedAt, deps)
      } catch (error) {
        if (isLasting(error)) return { record, problem: error.message }
        deps.onError(error)
        return null
      }
    }),
  )
  return found.filter((workflow) => workflow !== null)
}

async function loadFlow(
  record: WorkflowRecord,
  isNew: boolean,
  plannedAt: number,
  deps: LoadDeps,
): Promise<LoadedWorkflow | UnreadableWorkflow> {
  const compiled = await findWorkflow(record, deps)
  if (typeof compiled === 'string') return { record, problem: compiled }
  const steps = isNew ? [] : await readSteps(deps.store, record.runId)
  const scheduledAt = readWorkflowWork(record.work).scheduled_at ?? localTime(plannedAt, deps.zone)
  return hold(record, compiled, steps, scheduledAt, deps)
}

async function findWorkflow(
  { jobId, version }: WorkflowRecord,
  { compiledWorkflows, catalog }: LoadDeps,
): Promise<CompiledWorkflow | string> {
  const job = catalog.jobName(jobId)
  try {
    const found = version === null ? null : await compiledWorkflows.find({ jobId, version, job })
    return found ?? `version ${version} of ${job} is not there any more, or is no workflow`
  } catch (error) {
    if (!isLasting(error)) throw error
    return `version ${version} of ${job} cannot be read: ${error.message}`
  }
}

async function hold(
  record: WorkflowRecord,
  compiled: CompiledWorkflow,
  steps: readonly StepRecord[],
  scheduledAt: string,
  { catalog, store, payloads }: LoadDeps,
): Promise<LoadedWorkflow> {
  const { runId, revision, checkAt, beganAt, timeoutMs } = record
  const reusedMarks = await findReusedMarks(record, steps, compiled, store)
  const input = record.input && (await payloads.read(runId, 'input', record.input))
  const loaded: LoadedWorkflow = {
    record,
    compiled,
    reusedMarks,
    revision,
    checkAt: checkAt,
    ancestors: compiled.runsJobs ? await findAncestors(record, { store, catalog }) : NO_ANCESTORS,
    job: catalog.jobName(record.jobId),
    project: catalog.projectName(record.projectId),
    progress: createWorkflowProgress(compiled.graph),
    runs: createStepRuns(compiled.graph.size),
    input: input === null ? null : (JSON.parse(input) as Json),
    scheduledAt,
    deadline: timeoutMs === null ? null : beganAt + timeoutMs,
    stop: steps.some(({ reason }) => reason === 'timeout') ? 'timeout' : null,
    inbox: [],
    stopNotifiedMono: null,
    approvals: new Map(),
    answers: new Map(),
    lists: new Map(),
    unfinished: new Map(),
  }
  // A fan-out must be applied before its items.
  const all = [...steps, ...reusedMarks].toSorted((a, b) => a.step - b.step || a.item - b.item)
  for (const mark of all) applyMark(loaded, mark)
  for (const { step, item, state, isUnprocessed } of steps) {
    if (isUnprocessed) loaded.inbox.push({ step, item, state: state as FinalState })
  }
  return loaded
}
