import { isLasting } from '../../core/errors.ts'
import type { Json } from '../../core/expression/expression.ts'
import { createProgress } from '../../core/workflow/progress.ts'
import type { FinalState } from '../../core/run/run-state.ts'
import { localTime } from '../../core/schedule/local-time.ts'
import type { FlowRecord, FlowStore, RunQueries, StepRecord } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import type { Payloads } from '../payloads/payloads.ts'
import { readFlowWork } from '../runs/retries/scheduled-time.ts'
import { findAround, NOTHING_AROUND } from './find-ancestors.ts'
import { type HeldFlow, learn } from './loaded-workflow.ts'
import { readSteps } from './read-steps.ts'
import { createStepRuns } from './step-runs.ts'
import { findTakenOver } from './find-reused-marks.ts'
import type { Compiled, WorkflowBook } from './compiled-workflow-cache.ts'

export interface LoadDeps {
  readonly store: Pick<FlowStore, 'flowSteps' | 'findFlows' | 'stepsOfRuns'> &
    Pick<RunQueries, 'findRuns'>
  readonly catalog: Pick<Catalog, 'jobName' | 'projectName' | 'learnNames' | 'gateOf'>
  readonly book: WorkflowBook
  readonly payloads: Payloads
  /** Whose clocks show when a run was to be that no schedule made. */
  readonly zone: string
  onError(error: unknown): void
}

/** A flow that cannot go on, and the sentence that says why. */
export interface Unreadable {
  readonly record: FlowRecord
  readonly problem: string
}

/**
 * Flows from what is written down about them. Of those that have only just begun, nothing is yet. One
 * that cannot be read now is left out; the sweep comes back to it.
 */
export async function loadFlows(
  records: readonly FlowRecord[],
  isNew: boolean,
  deps: LoadDeps,
): Promise<(HeldFlow | Unreadable)[]> {
  if (records.length === 0) return []
  const { catalog, store } = deps
  await catalog.learnNames(
    records.map(({ jobId }) => jobId),
    records.map(({ projectId }) => projectId),
  )
  const runs = await store.findRuns({ runIds: records.map(({ runId }) => runId) })
  const times = new Map(runs.map(({ id, dueAt, createdAt }) => [id, dueAt ?? createdAt]))
  const found = await Promise.all(
    records.map(async (record): Promise<HeldFlow | Unreadable | null> => {
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
  return found.filter((flow) => flow !== null)
}

async function loadFlow(
  record: FlowRecord,
  isNew: boolean,
  plannedAt: number,
  deps: LoadDeps,
): Promise<HeldFlow | Unreadable> {
  const compiled = await findWorkflow(record, deps)
  if (typeof compiled === 'string') return { record, problem: compiled }
  const steps = isNew ? [] : await readSteps(deps.store, record.runId)
  const scheduledAt = readFlowWork(record.work).scheduled_at ?? localTime(plannedAt, deps.zone)
  return hold(record, compiled, steps, scheduledAt, deps)
}

async function findWorkflow(
  { jobId, version }: FlowRecord,
  { book, catalog }: LoadDeps,
): Promise<Compiled | string> {
  const job = catalog.jobName(jobId)
  try {
    const found = version === null ? null : await book.find({ jobId, version, job })
    return found ?? `version ${version} of ${job} is not there any more, or is no workflow`
  } catch (error) {
    if (!isLasting(error)) throw error
    return `version ${version} of ${job} cannot be read: ${error.message}`
  }
}

async function hold(
  record: FlowRecord,
  compiled: Compiled,
  steps: readonly StepRecord[],
  scheduledAt: string,
  { catalog, store, payloads }: LoadDeps,
): Promise<HeldFlow> {
  const { runId, revision, lookAt, beganAt, timeoutMs } = record
  const toTakeOver = await findTakenOver(record, steps, compiled, store)
  const input = record.input && (await payloads.read(runId, 'input', record.input))
  const held: HeldFlow = {
    ...{ record, compiled, toTakeOver, revision, lookAt },
    around: compiled.runsJobs ? await findAround(record, { store, catalog }) : NOTHING_AROUND,
    job: catalog.jobName(record.jobId),
    project: catalog.projectName(record.projectId),
    progress: createProgress(compiled.graph),
    runs: createStepRuns(compiled.graph.size),
    input: input === null ? null : (JSON.parse(input) as Json),
    scheduledAt,
    deadline: timeoutMs === null ? null : beganAt + timeoutMs,
    stop: steps.some(({ reason }) => reason === 'timeout') ? 'timeout' : null,
    ...{ inbox: [], toldToStopAt: null },
    ...{ approvals: new Map(), answers: new Map(), lists: new Map() },
    unfinished: new Map(),
  }
  // A fan-out has to be known before its items are.
  const all = [...steps, ...toTakeOver].toSorted((a, b) => a.step - b.step || a.item - b.item)
  for (const mark of all) learn(held, mark)
  for (const { step, item, state, isNews } of steps) {
    if (isNews) held.inbox.push({ step, item, state: state as FinalState })
  }
  return held
}
