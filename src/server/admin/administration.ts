import { type Actors, createActors } from '../identity/actors.ts'
import { type AuditLog, createAuditLog } from './audit.ts'
import { type BackfillAdmin, createBackfillAdmin } from './backfills.ts'
import { createForecaster, type Forecaster } from './forecaster.ts'
import { createHookReceiver, type HookReceiver } from './hooks.ts'
import { createJobAdmin, type JobAdmin } from './jobs.ts'
import { createQueueAdmin, type QueueAdmin } from './queues.ts'
import { createStorageAdmin, type StorageAdmin } from './storage.ts'
import type { StoreHealth } from '../health/store-health.ts'
import { createScheduleDefiner, type ScheduleDefiner } from './schedule-definer.ts'
import { createScheduleReader, type ScheduleReader } from './schedule-reader.ts'
import { createScheduleAdmin, type ScheduleAdmin } from './schedules.ts'
import { createSecretAdmin, type SecretAdmin } from './secrets.ts'
import { createStepAdmin, type StepAdmin } from './steps.ts'
import { createTokenAdmin, type TokenAdmin } from './tokens.ts'
import { createWebhookAdmin, type WebhookAdmin } from './webhooks.ts'
import { createWorkerAdmin, type WorkerAdmin } from './workers.ts'
import type { FormerSessions } from '../workers/former-sessions.ts'
import type { RequestedBy } from '../identity/requested-by.ts'
import type { Clock } from '../../core/clock.ts'
import type { Submission, SubmitAnswer } from '../../core/wire/protocol.ts'
import type { Store } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { WorkerIds } from '../workers/worker-ids.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { Feed } from '../events/feed.ts'
import type { WorkflowEngine } from '../workflows/workflow-engine.ts'
import type { WorkflowReader } from '../workflows/views/workflow-reader.ts'
import { createJobSteps } from '../workflows/views/job-steps.ts'
import type { CompiledWorkflowCache } from '../workflows/compiled-workflow-cache.ts'
import type { KnownJobs } from '../definitions/known-jobs.ts'
import type { ProgressTable } from '../runs/progress-table.ts'
import type { QueueSettingsCache } from '../dispatch/queue-settings-cache.ts'
import { createRunReader, type RunReader } from './run-reader.ts'
import { createAfterFiring } from '../schedules/firing/after-firing.ts'
import type { RuleCache } from '../schedules/rule-cache.ts'
import type { StoreClock } from '../cluster/store-clock.ts'
import type { Vault } from '../secrets/vault.ts'
import type { LaneIndex } from '../dispatch/lanes/lane-index.ts'
import type { Watch } from '../runs/watch.ts'
import type { Messages } from '../webhooks/messages.ts'
import type { Sealer } from '../webhooks/sealer.ts'

/** Administrative operations of a node: define and change things, steer runs, read state. */
export interface Administration {
  /** The trusted time of the store. */
  now(): number
  readonly jobs: JobAdmin
  readonly schedules: ScheduleAdmin
  readonly scheduleDefining: ScheduleDefiner
  readonly scheduleReading: ScheduleReader
  readonly forecaster: Forecaster
  readonly backfills: BackfillAdmin
  readonly queues: QueueAdmin
  readonly tokens: TokenAdmin
  readonly secrets: SecretAdmin
  readonly audit: AuditLog
  readonly workers: WorkerAdmin
  readonly runs: RunReader
  readonly steps: StepAdmin
  readonly storage: StorageAdmin
  readonly webhooks: WebhookAdmin
  readonly hooks: HookReceiver
  /** Live feed of run changes. */
  readonly feed: Feed
}

interface AdministrationDeps {
  readonly store: Store
  readonly catalog: CatalogCache
  readonly definitions: Definitions
  readonly knownJobs: Pick<KnownJobs, 'hasHandler'>
  readonly laneIndex: LaneIndex
  readonly queueSettings: QueueSettingsCache
  readonly watch: Watch
  readonly clock: Clock
  readonly progress: Pick<ProgressTable, 'of'>
  readonly formerSessions: Pick<FormerSessions, 'awaitedFor'>
  readonly feed: Feed
  readonly keeping: Pick<Parameters<typeof createStorageAdmin>[0], 'blobs' | 'inlineBytes'>
  readonly health: Pick<StoreHealth, 'check'>
  readonly vault: Vault
  readonly sealer: Sealer
  readonly messages: Messages
  readonly rules: RuleCache
  readonly compiledWorkflows: CompiledWorkflowCache
  readonly workflowReader: WorkflowReader
  readonly askWorkflow: WorkflowEngine['decide']
  /** Zone for local times of schedules that name none. */
  readonly zone: string
  mintId(): number
  storeNow(): number
  readonly storeClock: StoreClock
  mayPromise(): boolean
  readonly workerIds: WorkerIds
  onQueueChange(): Promise<void>
  /** The token was revoked. */
  onTokenChange(tokenId: number): void
  onDelivery(): void
  onScheduleChange(ids: readonly number[]): void
  onBackfill(): void
  submit(by: RequestedBy, submission: Submission): Promise<SubmitAnswer>
  /** Throws if the submission would be refused. */
  check(by: RequestedBy, submission: Submission): Promise<void>
}

export function createAdministration(deps: AdministrationDeps): Administration {
  const { store, catalog, storeNow } = deps
  const actors = createActors(store)
  return {
    now: storeNow,
    ...createJobParts(actors, deps),
    ...createRunParts(deps),
    tokens: createTokenAdmin({ store, catalog, actors, onChange: deps.onTokenChange }),
    secrets: createSecretAdmin({ store, catalog, actors, vault: deps.vault }),
    audit: createAuditLog({ store, catalog, actors }),
    storage: createStorageAdmin({ ...deps.keeping, store, health: deps.health }),
    feed: deps.feed,
    hooks: createHookReceiver(deps),
    webhooks: createWebhookAdmin({ ...deps, actors, onDue: deps.onDelivery }),
  }
}

/** Jobs, and their schedules. */
function createJobParts(
  actors: Actors,
  deps: AdministrationDeps,
): Pick<
  Administration,
  'jobs' | 'schedules' | 'scheduleDefining' | 'scheduleReading' | 'backfills' | 'forecaster'
> {
  const { store, clock, storeNow } = deps
  const afterFiring = createAfterFiring({ store, clock, storeNow })
  const onChange = deps.onScheduleChange
  const schedules = createScheduleAdmin({ ...deps, afterFiring, onChange })
  const scheduleDefining = createScheduleDefiner({ ...deps, schedules })
  const mayFire = deps.mayPromise
  const scheduleReading = createScheduleReader({ ...deps, schedules, actors, mayFire })
  return {
    jobs: createJobAdmin({
      ...deps,
      actors,
      afterFiring,
      reading: scheduleReading,
      defining: scheduleDefining,
    }),
    schedules,
    scheduleDefining,
    scheduleReading,
    backfills: createBackfillAdmin({ ...deps, schedules, onStart: deps.onBackfill }),
    forecaster: createForecaster({ ...deps, schedules }),
  }
}

/** Runs and their steps, and what executes them. */
function createRunParts(
  deps: AdministrationDeps,
): Pick<Administration, 'workers' | 'queues' | 'steps' | 'runs'> {
  const { store, queueSettings } = deps
  const workers = createWorkerAdmin(store, deps.workerIds)
  return {
    workers,
    queues: createQueueAdmin({ ...deps, workers, onChange: deps.onQueueChange }),
    steps: createStepAdmin({
      reading: deps.workflowReader,
      ofJob: createJobSteps(deps),
      ask: deps.askWorkflow,
    }),
    runs: createRunReader({ ...deps, workers, queues: queueSettings }),
  }
}
