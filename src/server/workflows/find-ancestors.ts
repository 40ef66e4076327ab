import { PunctualError } from '../../core/errors.ts'
import { publicId } from '../../core/ids.ts'
import { isFinal } from '../../core/run/run-state.ts'
import type { WorkflowRecord, WorkflowStore, RunQueries } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'

export interface Ancestors {
  /** Jobs that steps of the workflow cannot run. */
  readonly jobs: ReadonlySet<string>
  /** By gate: this workflow and its ancestors that hold it until their steps have ended. */
  readonly holders: ReadonlyMap<number, readonly number[]>
}

export const NO_ANCESTORS: Ancestors = { jobs: new Set(), holders: new Map() }

/**
 * Finds the ancestors of a workflow: its own job, that of the workflow it is a step of, and so on.
 * A step of it cannot run any of them: a job limited to one wave would wait for itself, and without
 * that limit the nesting would never end.
 */
export async function findAncestors(
  { runId, jobId }: WorkflowRecord,
  deps: {
    readonly store: Pick<WorkflowStore, 'findWorkflows' | 'stepsOfRuns'> &
      Pick<RunQueries, 'findRuns'>
    readonly catalog: Pick<CatalogCache, 'jobName' | 'learnNames'>
  },
): Promise<Ancestors> {
  const { store, catalog } = deps
  const jobs = new Set([jobId])
  const seen = new Set([runId])
  for (let runIds = [runId]; runIds.length > 0;) {
    const places = await store.stepsOfRuns({ runIds })
    const outer = new Set(places.map(({ workflowId }) => workflowId))
    runIds = [...outer].filter((workflowId) => !seen.has(workflowId))
    for (const workflowId of runIds) seen.add(workflowId)
    const workflows = runIds.length > 0 ? await store.findWorkflows({ runIds }) : []
    for (const workflow of workflows) jobs.add(workflow.jobId)
  }
  await catalog.learnNames([...jobs], [])
  const runs = await store.findRuns({ runIds: [...seen] })
  const holders = new Map<number, number[]>()
  for (const { id, gates, state } of runs) {
    if (isFinal(state)) continue
    for (const gate of gates) holders.set(gate, [...(holders.get(gate) ?? []), id])
  }
  return { jobs: new Set(Array.from(jobs, (job) => catalog.jobName(job))), holders }
}

/** Why a run at these gates could never start inside workflows that hold them; null if it can. */
export function waitsForItself(
  gates: readonly number[],
  { holders }: Ancestors,
  { gateOf }: Pick<CatalogCache, 'gateOf'>,
): PunctualError | null {
  for (const id of gates) {
    const own = holders.get(id) ?? []
    const gate = gateOf(id)
    if (!gate || own.length < gate.limit) continue
    const who = own.map((runId) => publicId('run', runId)).join(', ')
    const holds = own.length === 1 ? 'holds' : 'hold'
    const message = `it would wait for ever: ${who} ${holds} ${gate.key} until this step is over`
    return new PunctualError('invalid_workflow', message)
  }
  return null
}
