import type { DeliveryState } from '../../core/webhook/delivery.ts'
import type { AuditEntry } from './audit.ts'

/** Webhooks as users configure them. Secrets are sealed: the store cannot read them. */
export interface WebhookStore {
  /**
   * Creates or changes a webhook. `onlyIfNew`: not if it exists already. `full`: the project has
   * `maxWebhooks` of them. Disabling a webhook ends its pending deliveries.
   */
  putWebhook(input: PutWebhookInput & { readonly audit: AuditEntry }): Promise<PutWebhookResult>
  /** Sets a new secret. The previous one is still used for `keepMs`; any older one is not. */
  rotateWebhook(input: {
    projectId: number
    name: string
    secret: WebhookSecret
    keepMs: number
    audit: AuditEntry
  }): Promise<boolean>
  /** Also deletes all of its deliveries. */
  deleteWebhook(input: { projectId: number; name: string; audit: AuditEntry }): Promise<boolean>
  findWebhook(input: { projectId: number; name: string }): Promise<WebhookRecord | null>
  /** In order of name. */
  listWebhooks(input: { projectId: number }): Promise<readonly WebhookRecord[]>
}

export interface PutWebhookInput {
  readonly projectId: number
  readonly name: string
  readonly url: string
  /** A set of events: see `bitsOf`. */
  readonly events: number
  /** JSON text of a list of patterns, opaque to the store; null for all jobs. */
  readonly jobs: string | null
  readonly enabled: boolean
  /** Used only if the webhook is new. */
  readonly secret: WebhookSecret
  readonly onlyIfNew: boolean
  readonly maxWebhooks: number
}

export interface WebhookSecret {
  readonly sealed: string
  /** The last few characters, for recognising the secret. */
  readonly ending: string
}

export type PutWebhookResult = 'created' | 'changed' | 'exists' | 'full'

export interface WebhookRecord {
  readonly id: number
  readonly projectId: number
  readonly name: string
  readonly url: string
  readonly events: number
  readonly jobs: string | null
  readonly enabled: boolean
  /** Why it was disabled, if that happened automatically. */
  readonly disabledReason: string | null
  readonly secret: WebhookSecret
  readonly previous: { readonly sealed: string; readonly until: number } | null
  /** Since when every delivery has failed; null if the last one succeeded. */
  readonly failingSince: number | null
  readonly createdAt: number
  readonly createdBy: number | null
  readonly updatedAt: number
}

/**
 * Run ends that webhooks subscribe to. The tick that ends a run writes the event, exactly when some
 * webhook of its project subscribes to such an end. A job recovers with its first success after a
 * failure; both count from when a webhook of the project first subscribed to recoveries. Of several
 * runs that end in one tick, the one with the smaller id counts as the earlier.
 */
export interface OutboxStore {
  /** Whether the outbox has events, and when the next delivery is due. Cheap to ask. */
  pendingWebhookWork(): Promise<{ readonly hasEvents: boolean; readonly dueAt: number | null }>
  /** Oldest first. */
  outboxEvents(input: { limit: number }): Promise<readonly OutboxEvent[]>
  /** The enabled webhooks of these projects. */
  webhooksOf(projectIds: readonly number[]): Promise<readonly WebhookRecord[]>
  /**
   * Replaces events by deliveries. An event that no longer exists was replaced by another node, and
   * its deliveries are left out; so are deliveries for a webhook that was deleted or disabled
   * meanwhile.
   */
  expandOutbox(events: readonly ExpandedEvent[]): Promise<void>
}

export interface OutboxEvent {
  readonly id: number
  readonly runId: number
  readonly projectId: number
  readonly jobId: number
  /** The event as a set of event bits: a recovery is a success too. */
  readonly events: number
  /** For a recovery, since when its job had been failing. */
  readonly failingSince: number | null
  readonly at: number
}

export interface ExpandedEvent {
  readonly id: number
  readonly deliveries: readonly NewDelivery[]
}

export interface NewDelivery {
  readonly id: number
  readonly webhookId: number
  readonly event: string
  readonly runId: number | null
  readonly body: string
}

/** Messages on their way to endpoints. */
export interface DeliveryStore {
  /** Adds a delivery without an outbox event: a test. False if there is no such webhook. */
  addDelivery(input: NewDelivery): Promise<boolean>
  /**
   * Claims due deliveries, oldest first per webhook, for `leaseMs`: no other node can claim them
   * until then; unsettled ones are claimed again. A webhook gets at most
   * `perWebhook`, minus the deliveries the caller is `busy` with. Each slot goes to the webhook
   * with the fewest attempts under way, and then to the delivery that is due longest. Pending
   * deliveries of a disabled webhook were requested by a user.
   */
  claimDeliveries(input: {
    claim: number
    leaseMs: number
    limit: number
    perWebhook: number
    busy: readonly { readonly webhookId: number; readonly count: number }[]
  }): Promise<readonly ClaimedDelivery[]>
  /**
   * The result of a delivery attempt. False, and nothing changes, if the claim is no longer the
   * latest.
   */
  settleDelivery(input: {
    id: number
    webhookId: number
    claim: number
    /** Null: the delivery is final. */
    waitMs: number | null
    state: DeliveryState
    status: number | null
    /** Null for an attempt that this side aborted: that says nothing about the endpoint. */
    error: string | null
    tookMs: number
    /** Also disables the webhook, for this reason. */
    disable: { readonly reason: string; readonly audit: AuditEntry } | null
  }): Promise<boolean>
  /** Makes a delivery due again, from the start, under the same id. False if it does not exist. */
  redeliver(input: { id: number; webhookId: number; audit: AuditEntry }): Promise<boolean>
  /** Newest first, ids below `before`. */
  listDeliveries(input: {
    webhookId: number
    before: number
    limit: number
  }): Promise<readonly DeliveryRecord[]>
  findDelivery(input: { id: number; webhookId: number }): Promise<DeliveryRecord | null>
  /** Deletes final deliveries created before this id, in bounded batches. */
  pruneDeliveries(input: { before: number; limit: number }): Promise<{ more: boolean }>
}

export interface DeliveryRecord extends NewDelivery {
  readonly state: DeliveryState
  /** Attempts so far, including one under way. */
  readonly attempts: number
  /** When its first attempt was due, or when redelivery was requested. */
  readonly since: number
  readonly createdAt: number
  /** When it is due, or when the attempt under way times out; null once it is final. */
  readonly nextAt: number | null
  readonly lastAt: number | null
  readonly lastStatus: number | null
  readonly lastError: string | null
  readonly tookMs: number | null
}

export interface ClaimedDelivery extends NewDelivery {
  readonly attempts: number
  readonly since: number
  readonly projectId: number
  readonly webhook: string
  readonly url: string
  /** Sealed; the latest first. */
  readonly secrets: readonly string[]
}
