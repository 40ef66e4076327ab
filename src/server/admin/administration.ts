import { createActors } from '../identity/actors.ts'
import { type AuditLog, createAuditLog } from './audit.ts'
import { type Backfills, createBackfills } from './backfills.ts'
import { createForecasting, type Forecasting } from './forecaster.ts'
import { createHooks, type Hooks } from './hooks.ts'
import { createJobs, type Jobs } from './jobs.ts'
import { createQueues, type Queues } from './queues.ts'
import { createStorage, type Storage } from './storage.ts'
import { createScheduleDefining, type ScheduleDefining } from './schedule-definer.ts'
import { createScheduleReading, type ScheduleReading } from './schedule-reader.ts'
import { createSchedules, type Schedules } from './schedules.ts'
import { createSecrets, type Secrets } from './secrets.ts'
import { createSteps, type Steps } from './steps.ts'
import { createTokens, type Tokens } from './tokens.ts'
import { createWebhooks, type Webhooks } from './webhooks.ts'
import { createWorkers, type Workers } from './workers.ts'
import type { By } from '../identity/requested-by.ts'
import type { Clock } from '../../core/clock.ts'
import type { Submission, SubmitAnswer } from '../../core/wire/protocol.ts'
import type { Store } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { Feed } from '../events/feed.ts'
import type { Flows } from '../workflows/workflow-engine.ts'
import type { FlowReading } from '../workflows/views/workflow-reader.ts'
import { createJobSteps } from '../workflows/views/job-steps.ts'
import type { WorkflowBook } from '../workflows/compiled-workflow-cache.ts'
import type { ProgressBoard } from '../runs/progress-table.ts'
import type { QueueBook } from '../dispatch/queue-settings-cache.ts'
import { createRunReading, type RunReading } from './run-reader.ts'
import { createAfterFiring } from '../schedules/after-firing.ts'
import type { RuleBook } from '../schedules/rule-cache.ts'
import type { Vault } from '../secrets/vault.ts'
import type { LaneBoard } from '../dispatch/lane-index.ts'
import type { Watch } from '../runs/watch.ts'
import type { Messages } from '../webhooks/messages.ts'
import type { Sealer } from '../webhooks/sealer.ts'

/** What people ask of a node besides running things: to define, to steer, to look. */
export interface Administration {
  readonly jobs: Jobs
  readonly schedules: Schedules
  readonly scheduleDefining: ScheduleDefining
  readonly scheduleReading: ScheduleReading
  readonly forecasting: Forecasting
  readonly backfills: Backfills
  readonly queues: Queues
  readonly tokens: Tokens
  readonly secrets: Secrets
  readonly audit: AuditLog
  readonly workers: Workers
  readonly runs: RunReading
  readonly steps: Steps
  readonly storage: Storage
  readonly webhooks: Webhooks
  readonly hooks: Hooks
  /** What happens to runs, as it happens. */
  readonly feed: Feed
}

export function createAdministration(deps: {
  readonly store: Store
  readonly catalog: Catalog
  readonly definitions: Definitions
  readonly board: LaneBoard
  readonly queueBook: QueueBook
  readonly watch: Watch
  readonly clock: Clock
  readonly progress: Pick<ProgressBoard, 'of'>
  readonly feed: Feed
  readonly keeping: Parameters<typeof createStorage>[0]
  readonly vault: Vault
  readonly sealer: Sealer
  readonly messages: Messages
  readonly rules: RuleBook
  readonly book: WorkflowBook
  readonly flowReading: FlowReading
  readonly askFlow: Flows['ask']
  /** Where local times are local to, unless a schedule says. */
  readonly zone: string
  mintId(): number
  storeNow(): number
  mayPromise(): boolean
  onQueueChange(): Promise<void>
  onTokenChange(): void
  onDelivery(): void
  onScheduleChange(ids: readonly number[]): void
  onBackfill(): void
  submit(by: By, submission: Submission): Promise<SubmitAnswer>
  /** Throws why it would be refused. */
  check(by: By, submission: Submission): Promise<void>
}): Administration {
  const { store, catalog, definitions, board, queueBook, watch, clock, progress, storeNow } = deps
  const actors = createActors(store)
  const workers = createWorkers(store)
  const { zone, rules } = deps
  const afterFiring = createAfterFiring({ store, clock, storeNow })
  const schedules = createSchedules({
    ...{ store, catalog, storeNow, rules, afterFiring, mintId: deps.mintId },
    ...{ onChange: deps.onScheduleChange, submit: deps.submit },
  })
  const scheduleDefining = createScheduleDefining({
    ...{ store, catalog, schedules, zone, rules, storeNow, mintId: deps.mintId },
  })
  const scheduleReading = createScheduleReading({
    ...{ store, catalog, schedules, rules, actors, zone, storeNow, mayFire: deps.mayPromise },
  })
  return {
    jobs: createJobs({
      ...{ store, catalog, definitions, actors, clock, afterFiring, reading: scheduleReading },
      defining: scheduleDefining,
      onScheduleChange: deps.onScheduleChange,
    }),
    schedules,
    scheduleDefining,
    scheduleReading,
    backfills: createBackfills({
      ...{ store, catalog, schedules, rules, storeNow, mintId: deps.mintId },
      onStart: deps.onBackfill,
    }),
    forecasting: createForecasting({ store, catalog, schedules, storeNow }),
    queues: createQueues({
      ...{ store, catalog, board, workers, book: queueBook },
      onChange: deps.onQueueChange,
    }),
    tokens: createTokens({ store, catalog, actors, onChange: deps.onTokenChange }),
    secrets: createSecrets({ store, catalog, actors, vault: deps.vault }),
    audit: createAuditLog({ store, catalog, actors }),
    workers,
    storage: createStorage(deps.keeping),
    feed: deps.feed,
    hooks: createHooks({
      ...{ store, catalog, vault: deps.vault, storeNow },
      ...{ submit: deps.submit, check: deps.check },
    }),
    webhooks: createWebhooks({
      ...{ store, catalog, actors, storeNow, sealer: deps.sealer, messages: deps.messages },
      ...{ mintId: deps.mintId, onDue: deps.onDelivery },
    }),
    steps: createSteps({
      reading: deps.flowReading,
      ofJob: createJobSteps({ store, catalog, book: deps.book }),
      ask: deps.askFlow,
    }),
    runs: createRunReading({
      ...{ store, catalog, workers, watch, clock, progress, storeNow },
      ...{ board, mayPromise: deps.mayPromise },
      queues: queueBook,
      flowReading: deps.flowReading,
    }),
  }
}
