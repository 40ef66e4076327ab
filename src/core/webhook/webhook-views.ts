import type { DeliveryState } from './delivery.ts'
import type { WebhookEvent } from './webhook.ts'

export interface WireWebhook {
  readonly name: string
  readonly url: string
  readonly events: readonly WebhookEvent[]
  /** Null for all jobs of the project. */
  readonly jobs: readonly string[] | null
  readonly enabled: boolean
  readonly disabled_reason: string | null
  /** The last characters of its secret, to recognise it. */
  readonly secret_ending: string
  readonly previous_secret_until: string | null
  readonly failing_since: string | null
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
}

/** The only answer that contains its secret. */
export interface WireNewWebhook extends WireWebhook {
  readonly secret: string
}

/** One message to one endpoint. */
export interface WireDelivery {
  readonly id: string
  readonly event: string
  /** Null for a test message. */
  readonly run: string | null
  readonly state: DeliveryState
  readonly attempts: number
  readonly status: number | null
  readonly error: string | null
  readonly took_ms: number | null
  readonly created_at: string
  readonly last_attempt_at: string | null
  readonly next_attempt_at: string | null
}

export interface WireDeliveryDetail extends WireDelivery {
  readonly body: unknown
}
