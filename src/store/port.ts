import type { AuditStore } from './port/audit.ts'
import type { BackfillStore } from './port/backfills.ts'
import type { BlobRows } from './port/blobs.ts'
import type { CatalogStore } from './port/catalog.ts'
import type { WorkflowStore } from './port/workflows.ts'
import type { FollowStore } from './port/followers.ts'
import type { JobStore } from './port/jobs.ts'
import type { ExpectationStore } from './port/expectations.ts'
import type { LogStore } from './port/logs.ts'
import type { NodeStore } from './port/nodes.ts'
import type { QueueStore } from './port/queues.ts'
import type { RunQueries } from './port/runs.ts'
import type { ScheduleStore } from './port/schedules.ts'
import type { SecretStore } from './port/secrets.ts'
import type { SweepStore } from './port/sweeps.ts'
import type { TickStore } from './port/tick.ts'
import type { TokenStore } from './port/tokens.ts'
import type { MaintenanceStore } from './port/maintenance.ts'
import type { WaitQueries } from './port/waiting.ts'
import type { DeliveryStore, OutboxStore, WebhookStore } from './port/webhooks.ts'

export type * from './port/audit.ts'
export type * from './port/backfills.ts'
export type * from './port/blobs.ts'
export type * from './port/catalog.ts'
export type * from './port/workflows.ts'
export type * from './port/followers.ts'
export type * from './port/jobs.ts'
export type * from './port/expectations.ts'
export type * from './port/logs.ts'
export type * from './port/nodes.ts'
export type * from './port/queues.ts'
export type * from './port/runs.ts'
export type * from './port/schedules.ts'
export type * from './port/secrets.ts'
export type * from './port/sweeps.ts'
export type * from './port/tick.ts'
export type * from './port/tokens.ts'
export type * from './port/maintenance.ts'
export type * from './port/waiting.ts'
export type * from './port/webhooks.ts'

/**
 * The store holds all durable state. These are the operations the scheduler needs from it, in the
 * scheduler's terms; each adapter decides how rows are laid out. Every operation is one
 * transaction: it commits durably, or changes nothing, or fails with a `StoreError` that says which
 * of these is known.
 */
export interface Store
  extends
    TickStore,
    SweepStore,
    NodeStore,
    CatalogStore,
    RunQueries,
    WaitQueries,
    LogStore,
    JobStore,
    QueueStore,
    TokenStore,
    SecretStore,
    AuditStore,
    ScheduleStore,
    BackfillStore,
    ExpectationStore,
    WorkflowStore,
    FollowStore,
    BlobRows,
    WebhookStore,
    OutboxStore,
    DeliveryStore,
    MaintenanceStore {
  readonly kind: 'sqlite' | 'postgres'
  /** For display: `SQLite 3.53.4`, `PostgreSQL 18.4`. */
  readonly version: string
  /** For display: where the data is. Contains no password. */
  readonly location: string
  /** How many ticks may run concurrently, and how many items of a kind one tick may carry. */
  readonly ticksInFlight: number
  readonly tickCap: number
  close(): Promise<void>
}

/**
 * `refused`: nothing was written, and the same batch would be refused again (a poison item).
 * `unavailable`: nothing was written; try again. `unknown`: the connection broke around COMMIT, so
 * the batch may have been written; repeat it with the same ids and fences.
 */
export class StoreError extends Error {
  readonly outcome: 'refused' | 'unavailable' | 'unknown'
  /** Set if the cause is known and an immediate retry would meet it again. */
  readonly trouble: StoreTrouble | undefined

  constructor(
    outcome: StoreError['outcome'],
    message: string,
    options?: ErrorOptions & { readonly trouble?: StoreTrouble | undefined },
  ) {
    super(message, options)
    this.name = 'StoreError'
    this.outcome = outcome
    this.trouble = options?.trouble
  }
}

/**
 * `full`: the disk has no space for a write; writes work again as soon as it has. `damaged`: the
 * contents of the database cannot be trusted. `replaced`: the files are not the ones that were
 * opened. The last two need an operator.
 */
export const STORE_TROUBLES = ['full', 'damaged', 'replaced'] as const
export type StoreTrouble = (typeof STORE_TROUBLES)[number]
