import { PunctualError } from '../../core/errors.ts'
import { publicId } from '../../core/ids.ts'
import { isFinal } from '../../core/run/run-state.ts'
import type { FlowRecord, FlowStore, RunQueries } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'

export interface Around {
  /** Jobs that steps of the flow cannot run. */
  readonly jobs: ReadonlySet<string>
  /** By gate, the flows around and including this one that hold it, until their steps are over. */
  readonly holders: ReadonlyMap<number, readonly number[]>
}

export const NOTHING_AROUND: Around = { jobs: new Set(), holders: new Map() }

/**
 * The jobs around a flow: its own, that of the flow it is a step of, and so on. None of them can be run by a
 * step of it: one wave at a time would wait for itself, and without a limit there would be no end to it.
 */
export async function findAround(
  { runId, jobId }: FlowRecord,
  deps: {
    readonly store: Pick<FlowStore, 'findFlows' | 'stepsOfRuns'> & Pick<RunQueries, 'findRuns'>
    readonly catalog: Pick<Catalog, 'jobName' | 'learnNames'>
  },
): Promise<Around> {
  const { store, catalog } = deps
  const jobs = new Set([jobId])
  const seen = new Set([runId])
  for (let runIds = [runId]; runIds.length > 0;) {
    const places = await store.stepsOfRuns({ runIds })
    const outer = new Set(places.map(({ flowId }) => flowId))
    runIds = [...outer].filter((flowId) => !seen.has(flowId))
    for (const flowId of runIds) seen.add(flowId)
    const flows = runIds.length > 0 ? await store.findFlows({ runIds }) : []
    for (const flow of flows) jobs.add(flow.jobId)
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

/** Why a run at these gates could never start inside flows that hold them; null if it can. */
export function waitsForItself(
  gates: readonly number[],
  { holders }: Around,
  { gateOf }: Pick<Catalog, 'gateOf'>,
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
