import type { RunRecord, Store } from '../../../store/port.ts'
import type { WorkflowReader } from './workflow-reader.ts'

/** How many waits are followed, one after the other. */
const MOST_WAITS = 8

/**
 * Finds runs that wait for each other for ever, if this run is one of them: from run to run through
 * what each waits for, and at last to a workflow that contains this run. Only gates that a single
 * run fills are followed.
 */
export async function findWaitCycle(
  run: RunRecord,
  {
    store,
    workflowReader,
  }: {
    store: Pick<Store, 'waitOf' | 'stepsOfRuns' | 'findRuns'>
    workflowReader: Pick<WorkflowReader, 'statusOf'>
  },
): Promise<readonly number[]> {
  if (run.state !== 'blocked') return []
  const context = await ancestorsOf(run.id, store)
  const path: number[] = []
  for (let waiting = run; context.size > 0 && path.length < MOST_WAITS;) {
    const wait = await store.waitOf({ runId: waiting.id, maxCount: 1 })
    const [holderId, ...others] = wait?.gate?.heldBy ?? []
    if (holderId === undefined || others.length > 0) return []
    path.push(holderId)
    if (context.has(holderId)) return path
    const [holder] = await store.findRuns({ runIds: [holderId] })
    const standing = holder && (await workflowReader.statusOf(holder))
    if (!standing?.blocked) return []
    waiting = standing.blocked.run
  }
  return []
}

async function ancestorsOf(
  runId: number,
  store: Pick<Store, 'stepsOfRuns'>,
): Promise<ReadonlySet<number>> {
  const context = new Set<number>()
  for (let runIds = [runId]; runIds.length > 0;) {
    const places = await store.stepsOfRuns({ runIds })
    runIds = places
      .map(({ workflowId }) => workflowId)
      .filter((workflowId) => !context.has(workflowId))
    for (const workflowId of runIds) context.add(workflowId)
  }
  return context
}
