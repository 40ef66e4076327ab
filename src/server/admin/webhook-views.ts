import { publicId } from '../../core/ids.ts'
import type {
  WireDeliveryDetail,
  WireDelivery,
  WireWebhook,
} from '../../core/webhook/webhook-views.ts'
import { eventsOf } from '../../core/webhook/webhook.ts'
import { formatTime } from '../../core/wire/runs.ts'
import type { DeliveryRecord, WebhookRecord } from '../../store/port.ts'

export function showWebhook(
  record: WebhookRecord,
  nameOf: (actor: number | null) => string,
): WireWebhook {
  return {
    name: record.name,
    url: record.url,
    events: eventsOf(record.events),
    jobs: record.jobs === null ? null : (JSON.parse(record.jobs) as string[]),
    enabled: record.enabled,
    disabled_reason: record.disabledReason,
    secret_ending: record.secret.ending,
    previous_secret_until: timeOrNull(record.previous?.until ?? null),
    failing_since: timeOrNull(record.failingSince),
    created_at: formatTime(record.createdAt, 'created_at'),
    created_by: nameOf(record.createdBy),
    updated_at: formatTime(record.updatedAt, 'updated_at'),
  }
}

export function showDelivery(record: DeliveryRecord): WireDelivery {
  return {
    id: publicId('dlv', record.id),
    event: record.event,
    run: record.runId === null ? null : publicId('run', record.runId),
    state: record.state,
    attempts: record.attempts,
    status: record.lastStatus,
    error: record.lastError,
    took_ms: record.tookMs,
    created_at: formatTime(record.createdAt, 'created_at'),
    last_attempt_at: timeOrNull(record.lastAt),
    next_attempt_at: timeOrNull(record.nextAt),
  }
}

export function showDeliveryDetail(record: DeliveryRecord): WireDeliveryDetail {
  return { ...showDelivery(record), body: JSON.parse(record.body) as unknown }
}

function timeOrNull(at: number | null): string | null {
  return at === null ? null : formatTime(at, 'at')
}
