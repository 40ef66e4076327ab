import type { AuditStore } from './port/audit.ts'
import type { BackfillStore } from './port/backfills.ts'
import type { BlobRows } from './port/blobs.ts'
import type { CatalogStore } from './port/catalog.ts'
import type { FlowStore } from './port/workflows.ts'
import type { FollowStore } from './port/followers.ts'
import type { JobStore } from './port/jobs.ts'
import type { LapseStore } from './port/expectations.ts'
import type { LogStore } from './port/logs.ts'
import type { NodeStore } from './port/nodes.ts'
import type { QueueStore } from './port/queues.ts'
import type { RunQueries } from './port/runs.ts'
import type { ScheduleStore } from './port/schedules.ts'
import type { SecretStore } from './port/secrets.ts'
import type { SweepStore } from './port/sweeps.ts'
import type { TickStore } from './port/tick.ts'
import type { TokenStore } from './port/tokens.ts'
import type { Upkeep } from './port/maintenance.ts'
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
 * The store is the truth. These are the verbs the scheduler needs from it, in the scheduler's words;
 * how rows are laid out is each adapter's own affair. Every verb is one transaction: it happened
 * durably, or not at all, or it fails with a `StoreError` that says which of these is known.
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
    LapseStore,
    FlowStore,
    FollowStore,
    BlobRows,
    WebhookStore,
    OutboxStore,
    DeliveryStore,
    Upkeep {
  readonly kind: 'sqlite' | 'postgres'
  /** For people: `SQLite 3.53.4`, `PostgreSQL 18.4`. */
  readonly version: string
  /** How many ticks may be under way at once, and how many items of a kind one tick may carry. */
  readonly ticksInFlight: number
  readonly tickCap: number
  close(): Promise<void>
}

/**
 * `refused`: nothing was written and the same batch would be refused again (a poison item).
 * `unavailable`: nothing was written; try again. `unknown`: the connection broke around COMMIT;
 * the batch may or may not be there, so repeat it with the same ids and fences.
 */
export class StoreError extends Error {
  readonly outcome: 'refused' | 'unavailable' | 'unknown'

  constructor(outcome: StoreError['outcome'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreError'
    this.outcome = outcome
  }
}
