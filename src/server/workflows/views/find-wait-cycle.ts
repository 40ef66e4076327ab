import type { RunRecord, Store } from '../../../store/port.ts'
import type { FlowReading } from './workflow-reader.ts'

/** So many waits are followed, one after the other. */
const MOST_WAITS = 8

/**
 * Runs that wait for each other for ever, if this one does: those that hold what it waits for, from one to the
 * next, and at last a workflow it is part of. Only gates that a single run fills are followed.
 */
export async function findWaitingCircle(
  run: RunRecord,
  {
    store,
    flowReading,
  }: {
    store: Pick<Store, 'waitOf' | 'stepsOfRuns' | 'findRuns'>
    flowReading: Pick<FlowReading, 'standingOf'>
  },
): Promise<readonly number[]> {
  if (run.state !== 'blocked') return []
  const around = await workflowsAround(run.id, store)
  const path: number[] = []
  for (let waiting = run; around.size > 0 && path.length < MOST_WAITS;) {
    const wait = await store.waitOf({ runId: waiting.id, most: 1 })
    const [holderId, ...others] = wait?.gate?.heldBy ?? []
    if (holderId === undefined || others.length > 0) return []
    path.push(holderId)
    if (around.has(holderId)) return path
    const [holder] = await store.findRuns({ runIds: [holderId] })
    const standing = holder && (await flowReading.standingOf(holder))
    if (!standing?.heldUp) return []
    waiting = standing.heldUp.run
  }
  return []
}

async function workflowsAround(
  runId: number,
  store: Pick<Store, 'stepsOfRuns'>,
): Promise<ReadonlySet<number>> {
  const around = new Set<number>()
  for (let runIds = [runId]; runIds.length > 0;) {
    const places = await store.stepsOfRuns({ runIds })
    runIds = places.map(({ flowId }) => flowId).filter((flowId) => !around.has(flowId))
    for (const flowId of runIds) around.add(flowId)
  }
  return around
}
