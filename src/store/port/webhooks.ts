import type { DeliveryState } from '../../core/webhook/delivery.ts'
import type { AuditEntry } from './audit.ts'

/** Webhooks as people set them up. Secrets come and go sealed: the store cannot read them. */
export interface WebhookStore {
  /**
   * Creates it, or replaces what it says. `once`: not if it is there already. `full`: the project
   * has `most` of them. Disabling one ends what was still to be delivered.
   */
  putWebhook(input: WebhookWish & { readonly audit: AuditEntry }): Promise<WebhookFate>
  /** Its secret from now on. The one before is still used until `keepUntil`; any older is not. */
  rotateWebhook(input: {
    projectId: number
    name: string
    secret: WebhookSecret
    keepMs: number
    audit: AuditEntry
  }): Promise<boolean>
  /** With everything that was delivered or still to be. */
  deleteWebhook(input: { projectId: number; name: string; audit: AuditEntry }): Promise<boolean>
  findWebhook(input: { projectId: number; name: string }): Promise<WebhookRecord | null>
  /** In order of name. */
  listWebhooks(input: { projectId: number }): Promise<readonly WebhookRecord[]>
}

export interface WebhookWish {
  readonly projectId: number
  readonly name: string
  readonly url: string
  /** A set of events: see `bitsOf`. */
  readonly events: number
  /** JSON text of a list of patterns, never looked into; null for all jobs. */
  readonly jobs: string | null
  readonly enabled: boolean
  /** Used if it is new, and only then. */
  readonly secret: WebhookSecret
  readonly once: boolean
  readonly most: number
}

export interface WebhookSecret {
  readonly sealed: string
  /** The last few characters, by which people recognise it. */
  readonly ending: string
}

export type WebhookFate = 'created' | 'changed' | 'exists' | 'full'

export interface WebhookRecord {
  readonly id: number
  readonly projectId: number
  readonly name: string
  readonly url: string
  readonly events: number
  readonly jobs: string | null
  readonly enabled: boolean
  /** Why it is disabled, when nobody asked for it. */
  readonly disabledReason: string | null
  readonly secret: WebhookSecret
  readonly previous: { readonly sealed: string; readonly until: number } | null
  /** Since when no delivery has got through; null while they do. */
  readonly failingSince: number | null
  readonly createdAt: number
  readonly createdBy: number | null
  readonly updatedAt: number
}

/**
 * What ended and may interest a webhook, written by the tick that ended it, exactly when some webhook
 * of its project asks for such an end. A job recovers with its first success after a failure; both
 * count from when a webhook of the project first asked for recoveries. Of several runs that end in
 * one tick, the one with the smaller id counts as the earlier.
 */
export interface OutboxStore {
  /** Whether anything waits in the outbox, and when the next delivery is due. Cheap to ask. */
  webhookWork(): Promise<{ readonly hasEvents: boolean; readonly dueAt: number | null }>
  /** Oldest first. */
  outboxEvents(input: { limit: number }): Promise<readonly OutboxEvent[]>
  /** The webhooks of these projects that are enabled. */
  webhooksOf(projectIds: readonly number[]): Promise<readonly WebhookRecord[]>
  /**
   * Replaces events by deliveries. An event that is gone was replaced by somebody else, and what it
   * would have become is left out; so is what is for a webhook that is gone or disabled by now.
   */
  expandOutbox(events: readonly ExpandedEvent[]): Promise<void>
}

export interface OutboxEvent {
  readonly id: number
  readonly runId: number
  readonly projectId: number
  readonly jobId: number
  /** What it is, as a set of events: a recovery is a success too. */
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
  /** Outside the outbox: a test. False if there is no such webhook. */
  addDelivery(input: NewDelivery): Promise<boolean>
  /**
   * Takes what is due, for each webhook the oldest first, for `leaseMs`: nobody else gets it meanwhile,
   * and somebody does afterwards unless it was settled. A webhook gets at most `perWebhook`, less what
   * the caller says it is `busy` with; each place goes to whom the fewest tries are under way to, and
   * then to what is due longest. What is pending for a disabled one was asked for by hand.
   */
  claimDeliveries(input: {
    claim: number
    leaseMs: number
    limit: number
    perWebhook: number
    busy: readonly { readonly webhookId: number; readonly count: number }[]
  }): Promise<readonly ClaimedDelivery[]>
  /** What became of a try. False, and nothing changes, if the claim is no longer the latest. */
  settleDelivery(input: {
    id: number
    webhookId: number
    claim: number
    /** Null: it is final. */
    waitMs: number | null
    state: DeliveryState
    status: number | null
    /** Null for a try that was broken off from this side: that says nothing of the endpoint. */
    error: string | null
    tookMs: number
    /** The webhook is disabled with it, for this reason. */
    disable: { readonly reason: string; readonly audit: AuditEntry } | null
  }): Promise<boolean>
  /** Due again, from the start, under the same id. False if it is not there. */
  redeliver(input: { id: number; webhookId: number; audit: AuditEntry }): Promise<boolean>
  /** Newest first, ids below `before`. */
  listDeliveries(input: {
    webhookId: number
    before: number
    limit: number
  }): Promise<readonly DeliveryRecord[]>
  findDelivery(input: { id: number; webhookId: number }): Promise<DeliveryRecord | null>
  /** Forgets deliveries made before this id that are final, a bounded bite at a time. */
  pruneDeliveries(input: { before: number; limit: number }): Promise<{ more: boolean }>
}

export interface DeliveryRecord extends NewDelivery {
  readonly state: DeliveryState
  /** Tries so far; the one under way counts. */
  readonly attempts: number
  /** When its first try was due, or when it was asked for again. */
  readonly since: number
  readonly createdAt: number
  /** When it is due, or when the try under way is given up; null once it is final. */
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
