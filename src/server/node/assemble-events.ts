import { publicId } from '../../core/ids.ts'
import type { RunProgress } from '../../core/wire/protocol.ts'
import { writeProgress } from '../../core/wire/runs.ts'
import { createFeed, type Feed } from '../events/feed.ts'
import { createRunChangeReader } from '../events/run-changes.ts'
import type { HeldLease } from '../sessions/session.ts'
import type { Runs } from './assemble-runs.ts'
import type { StoreAccess } from './assemble-store-access.ts'
import type { NodeOptions } from './node-options.ts'

/** The live feed of run changes. */
export interface RunEvents {
  readonly feed: Feed
  /** Publishes the progress of an attempt. */
  publishProgress(lease: HeldLease, progress: RunProgress): void
}

/** Called after the node has joined: the number of the node is part of every position. */
export function assembleEvents(
  { clock }: NodeOptions,
  { access, runs }: { readonly access: StoreAccess; readonly runs: Runs },
): RunEvents {
  const { store, catalog, membership, onError } = access
  const { progress, creators } = runs
  const feed = createFeed({
    clock,
    epoch: String(membership.node),
    read: createRunChangeReader({ store, catalog, progress, creators }),
    countNodes: store.countNodes,
    onError,
  })
  return {
    feed,
    publishProgress: ({ runId, projectId, jobId }, progress) =>
      feed.progress(() => ({
        project: catalog.projectName(projectId),
        job: catalog.jobName(jobId),
        data: { id: publicId('run', runId), progress: writeProgress(progress) },
      })),
  }
}
