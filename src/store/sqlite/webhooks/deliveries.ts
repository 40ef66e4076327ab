import type { Database } from 'better-sqlite3'
import { DELIVERY_CODE, DELIVERY_STATES } from '../../../core/webhook/delivery.ts'
import type { ClaimedDelivery, DeliveryRecord, DeliveryStore, NewDelivery } from '../../port.ts'
import { prepareAddDelivery } from './add-deliveries.ts'
import type { Audit } from '../audit/audit.ts'
import type { Sync } from '../connection/sync.ts'
import type { WebhookChanges } from './webhooks.ts'

/** There may be many endpoints, but each costs one index lookup. */
const ENDPOINTS = `
  SELECT id, project_id AS projectId, name, url, sealed, previous_sealed AS previousSealed,
         previous_until AS previousUntil FROM webhook`
export const DUE_DELIVERIES = `
  SELECT id, next_at AS nextAt FROM delivery
   WHERE webhook_id = ? AND state = 0 AND next_at <= ? ORDER BY next_at LIMIT ?`
export const CLAIM_DELIVERIES = `
  UPDATE delivery SET claim = :claim, attempts = attempts + 1, next_at = :until, last_at = :now
   WHERE id = :id
  RETURNING id, webhook_id AS webhookId, run_id AS runId, event, body, attempts, since`
export const CLAIMED = `
  SELECT webhook_id AS id, webhook.project_id AS projectId
    FROM delivery JOIN webhook ON webhook.id = webhook_id
   WHERE delivery.id = ? AND state = 0 AND claim = ?`
export const SETTLE = `
  UPDATE delivery SET state = :state, next_at = :nextAt, claim = NULL, last_status = :status,
         last_error = :error, took_ms = :tookMs
   WHERE id = :id`
export const RECORD_SUCCESS = `
  UPDATE webhook SET failing_since = NULL WHERE id = ? AND failing_since IS NOT NULL`
export const RECORD_FAILURE = `
  UPDATE webhook SET failing_since = :now WHERE id = :id AND failing_since IS NULL`
export const REDELIVER = `
  UPDATE delivery SET state = 0, attempts = 0, since = :now, next_at = :now, claim = NULL,
         last_at = NULL, last_status = NULL, last_error = NULL, took_ms = NULL
   WHERE id = :id AND webhook_id = :webhookId`
export const OLD = `
  DELETE FROM delivery WHERE id IN (
    SELECT id FROM delivery WHERE id < :before AND state > 0 ORDER BY id LIMIT :limit)`
const RECORD = `
  SELECT id, webhook_id AS webhookId, run_id AS runId, event, body, state, attempts, since,
         created_at AS createdAt, next_at AS nextAt, last_at AS lastAt, last_status AS lastStatus,
         last_error AS lastError, took_ms AS tookMs FROM delivery`
export const DELIVERIES_OF = `${RECORD}
   WHERE webhook_id = :webhookId AND id < :before ORDER BY id DESC LIMIT :limit`
export const FIND_DELIVERY = `${RECORD} WHERE id = :id AND webhook_id = :webhookId`

interface Endpoint {
  readonly id: number
  readonly projectId: number
  readonly name: string
  readonly url: string
  readonly sealed: string
  readonly previousSealed: string | null
  readonly previousUntil: number | null
}
type TakenRow = NewDelivery & { readonly attempts: number; readonly since: number }
type RecordRow = Omit<DeliveryRecord, 'state'> & { readonly state: number }
type Input<Name extends keyof DeliveryStore> = Parameters<DeliveryStore[Name]>[0]

export interface DeliveryChanges {
  addDelivery(input: Input<'addDelivery'>, now: number): boolean
  claimDeliveries(input: Input<'claimDeliveries'>, now: number): ClaimedDelivery[]
  settleDelivery(input: Input<'settleDelivery'>, now: number): boolean
  redeliver(input: Input<'redeliver'>, now: number): boolean
  pruneDeliveries(input: Input<'pruneDeliveries'>): { more: boolean }
}

export function prepareDeliveries(
  db: Database,
  { audit, webhooks }: { audit: Audit; webhooks: Pick<WebhookChanges, 'disable'> },
): DeliveryChanges {
  const endpoints = db.prepare<[], Endpoint>(ENDPOINTS)
  const due = db.prepare<[number, number, number], { id: number; nextAt: number }>(DUE_DELIVERIES)
  const take = db.prepare<[object], TakenRow>(CLAIM_DELIVERIES)
  const claimed = db.prepare<[number, number], { id: number; projectId: number }>(CLAIMED)
  const settle = db.prepare(SETTLE)
  const recordSuccess = db.prepare(RECORD_SUCCESS)
  const recordFailure = db.prepare(RECORD_FAILURE)
  const again = db.prepare(REDELIVER)
  const old = db.prepare(OLD)

  return {
    addDelivery: prepareAddDelivery(db),

    claimDeliveries({ claim, leaseMs, limit, perWebhook, busy }, now) {
      const counts = new Map(busy.map(({ webhookId, count }) => [webhookId, count]))
      const fronts = endpoints.all().flatMap((endpoint) => {
        const underWay = counts.get(endpoint.id) ?? 0
        const room = Math.min(limit, perWebhook - underWay)
        if (room <= 0) return []
        const rows = due.all(endpoint.id, now, room)
        return rows.map((row, nth) => ({ ...row, endpoint, turn: underWay + nth }))
      })
      // In table order, the first endpoints would take every slot that they free themselves.
      fronts.sort((one, other) => one.turn - other.turn || one.nextAt - other.nextAt)
      return fronts.slice(0, limit).map(({ id, endpoint }) => {
        const row = take.get({ id, claim, until: now + leaseMs, now }) as TakenRow
        return toClaimed(row, endpoint, now)
      })
    },

    settleDelivery({ id, claim, waitMs, state, status, error, tookMs, disable }, now) {
      const webhook = claimed.get(id, claim)
      if (!webhook) return false
      const nextAt = waitMs === null ? null : now + waitMs
      settle.run({ id, state: DELIVERY_CODE[state], nextAt, status, error, tookMs })
      if (state === 'delivered') recordSuccess.run(webhook.id)
      else if (error !== null) recordFailure.run({ id: webhook.id, now })
      if (disable) {
        webhooks.disable(webhook, disable.reason, now)
        audit(disable.audit, now)
      }
      return true
    },

    redeliver({ id, webhookId, audit: entry }, now) {
      if (again.run({ id, webhookId, now }).changes === 0) return false
      audit(entry, now)
      return true
    },

    pruneDeliveries: ({ before, limit }) => ({
      more: old.run({ before, limit }).changes === limit,
    }),
  }
}

function toClaimed(row: TakenRow, endpoint: Endpoint, now: number): ClaimedDelivery {
  const { projectId, name, url, sealed, previousSealed, previousUntil } = endpoint
  const previous = previousSealed !== null && (previousUntil ?? 0) > now ? [previousSealed] : []
  return { ...row, projectId, webhook: name, url, secrets: [sealed, ...previous] }
}

export function prepareDeliveryQueries(
  db: Database,
): Sync<Pick<DeliveryStore, 'listDeliveries' | 'findDelivery'>> {
  const deliveriesOf = db.prepare<[object], RecordRow>(DELIVERIES_OF)
  const find = db.prepare<[object], RecordRow>(FIND_DELIVERY)
  return {
    listDeliveries: ({ webhookId, before, limit }) =>
      deliveriesOf.all({ webhookId, before, limit }).map(toRecord),
    findDelivery({ id, webhookId }) {
      const row = find.get({ id, webhookId })
      return row ? toRecord(row) : null
    },
  }
}

function toRecord({ state, ...row }: RecordRow): DeliveryRecord {
  return { ...row, state: DELIVERY_STATES[state] as DeliveryRecord['state'] }
}
