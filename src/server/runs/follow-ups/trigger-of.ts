import { publicId } from '../../../core/ids.ts'
import type { RunTrigger } from '../../../core/wire/protocol.ts'
import { isFinal } from '../../../core/run/run-state.ts'
import type { FollowStore, RunRecord } from '../../../store/port.ts'
import type { Catalog } from '../../catalog/catalog-cache.ts'
import type { FollowerOfRun } from '../../explanations/why-run.ts'

interface Deps {
  readonly store: Pick<FollowStore, 'followedBy' | 'followUpsAfter'>
  readonly catalog: Pick<Catalog, 'jobName' | 'learnNames'>
}

/** The end that made a run, if one did. A run that has a time, or repeats another, was made otherwise. */
export async function triggerOf(
  { id, dueAt, retryOf }: RunRecord,
  { store, catalog }: Deps,
): Promise<RunTrigger | null> {
  if (dueAt !== null || retryOf !== null) return null
  const found = await store.followedBy({ runId: id })
  if (!found) return null
  const { sourceRunId, sourceJobId, state } = found
  await catalog.learnNames([sourceJobId], [])
  const run = publicId('run', sourceRunId)
  return { kind: 'after', run, job: catalog.jobName(sourceJobId), state }
}

/** What came of the end of a run. */
export async function followersAfter(
  { id, state }: RunRecord,
  { store, catalog }: Deps,
): Promise<FollowerOfRun[]> {
  if (!isFinal(state)) return []
  const found = await store.followUpsAfter({ runId: id })
  await catalog.learnNames(
    found.map(({ jobId }) => jobId),
    [],
  )
  return found.map(({ jobId, runId, reason }) => ({
    job: catalog.jobName(jobId),
    run: runId === null ? null : publicId('run', runId),
    reason,
  }))
}
