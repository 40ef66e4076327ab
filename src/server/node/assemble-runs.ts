import type { Blobs } from '../../blobs/port.ts'
import { createKnownJobs, type KnownJobs } from '../definitions/known-jobs.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { measureBlobs } from '../payloads/measure-blobs.ts'
import { createPayloads, type PayloadOptions, type Payloads } from '../payloads/payloads.ts'
import { createDraft, type Drafting, type DraftRuns } from '../runs/draft-runs.ts'
import { createProgressTable, type ProgressTable } from '../runs/progress-table.ts'
import { createRunCreators, type RunCreators } from '../runs/run-creators.ts'
import { createWatch, type Watch } from '../runs/watch.ts'
import type { RecentOffers } from '../sessions/recent-offers.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { StoreAccess } from './assemble-store-access.ts'
import type { NodeOptions } from './node-options.ts'
import type { NodeSignals } from '../signals/signals.ts'

/** Makes runs out of submissions, and stores what belongs to runs. */
export interface Runs {
  readonly draft: DraftRuns
  /** What `draft` uses. */
  readonly drafting: Drafting
  readonly knownJobs: KnownJobs
  readonly blobs: Blobs
  readonly payloadOptions: PayloadOptions
  readonly payloads: Payloads
  readonly progress: ProgressTable
  readonly creators: RunCreators
  readonly watch: Watch
  /** Zone of times that name none. */
  readonly zone: string
}

export function assembleRuns(
  options: NodeOptions,
  {
    access,
    sessionIndex,
    recentOffers,
    metrics,
    signals,
  }: {
    readonly access: StoreAccess
    readonly sessionIndex: SessionIndex
    readonly recentOffers: RecentOffers
    readonly metrics: Metrics
    readonly signals: NodeSignals
  },
): Runs {
  const { store, catalog, definitions, queueSettings, membership } = access
  const { clock, random, config, zone = 'UTC' } = options
  const { mintId, storeNow } = membership
  const blobs = measureBlobs(options.blobs, { clock, onBlob: metrics.onBlob })
  const payloadOptions: PayloadOptions = {
    blobs,
    clock,
    random,
    area: access.installation,
    inlineBytes: config.inlineBytes,
    orphanMs: config.orphanBlobMs,
  }
  const knownJobs = createKnownJobs({ store, catalog, recentOffers })
  const drafting: Drafting = {
    catalog,
    definitions,
    queues: queueSettings,
    store,
    clock,
    knownJobs,
    zone,
    mintId,
    storeNow,
  }
  return {
    draft: createDraft(drafting),
    drafting,
    knownJobs,
    blobs,
    payloadOptions,
    payloads: createPayloads(payloadOptions),
    progress: createProgressTable({
      leaseOf: sessionIndex.leaseOf,
      mono: clock.mono,
      storeNow,
      signals,
    }),
    creators: createRunCreators({ store, catalog }),
    watch: createWatch(clock),
    zone,
  }
}
