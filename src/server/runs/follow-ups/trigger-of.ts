import { publicId } from '../../../core/ids.ts'
import type { RunTrigger } from '../../../core/wire/protocol.ts'
import { isFinal } from '../../../core/run/run-state.ts'
import type { FollowStore, RunRecord } from '../../../store/port.ts'
import type { CatalogCache } from '../../catalog/catalog-cache.ts'

export interface FollowerOfRun {
  readonly job: string
  readonly run: string | null
  readonly reason: string | null
}

interface Deps {
  readonly store: Pick<FollowStore, 'followedBy' | 'followUpsAfter'>
  readonly catalog: Pick<CatalogCache, 'jobName' | 'learnNames'>
}

/**
 * The end that triggered a run, if any. A run with a due time, or one that repeats another, was
 * made otherwise.
 */
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

/** The followers of a run and the outcome for each. */
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
