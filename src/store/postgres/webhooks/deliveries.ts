import { DELIVERY_CODE, DELIVERY_STATES } from '../../../core/webhook/delivery.ts'
import type { ClaimedDelivery, DeliveryRecord, DeliveryStore } from '../../port.ts'
import { addDeliveries } from './add-deliveries.ts'
import { addAudit } from '../audit/audit.ts'
import { ints } from '../connection/binary-arrays.ts'
import { type Database, pickLists } from '../database/database.ts'
import { CLOCK, type Queryable } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'
import { disableWebhook, inSubscription } from './webhooks.ts'

type Input<Name extends keyof DeliveryStore> = Parameters<DeliveryStore[Name]>[0]

/**
 * There may be many endpoints, but each costs one index lookup: a range of pairs, so that no other
 * index offers the order. In table order, the first endpoints would take every slot that they free
 * themselves. Only claimed rows are locked, and checked again: another node may have claimed one
 * first, and rows under way or final are not due.
 */
export const CLAIM_DELIVERIES = {
  name: 'claim-deliveries',
  text: `
  WITH ${CLOCK},
  due AS MATERIALIZED (
    SELECT taken.id FROM (
      SELECT front.id, front.webhook_id FROM webhook
        LEFT JOIN unnest($5::int[], $6::int[]) AS busy (webhook_id, count)
               ON busy.webhook_id = webhook.id
       CROSS JOIN LATERAL (
         SELECT id, webhook_id, next_at, row_number() OVER (ORDER BY webhook_id, next_at) AS nth
           FROM delivery
          WHERE state = 0 AND webhook_id >= webhook.id
            AND (webhook_id, next_at) <= (webhook.id, (SELECT now FROM clock))
          ORDER BY webhook_id, next_at
          LIMIT greatest(0, $7::int - coalesce(busy.count, 0))) front
       ORDER BY coalesce(busy.count, 0) + front.nth, front.next_at) candidate
     CROSS JOIN LATERAL (
       SELECT d.id FROM delivery d
        WHERE d.webhook_id = candidate.webhook_id AND d.id = candidate.id
          AND d.next_at <= (SELECT now FROM clock)
          FOR UPDATE SKIP LOCKED) taken
     LIMIT $4::int),
  claimed AS (
    UPDATE delivery SET claim = $2::bigint, attempts = attempts + 1, next_at = now + $3::bigint,
           last_at = now
      FROM clock WHERE delivery.id = ANY (ARRAY(SELECT id FROM due))
    RETURNING delivery.*)
  SELECT claimed.id, webhook_id AS "webhookId", run_id AS "runId", event, body, attempts, since,
         webhook.project_id AS "projectId", webhook.name AS webhook, url,
         sealed, CASE WHEN previous_until > now THEN previous_sealed END AS previous
    FROM claimed JOIN webhook ON webhook.id = webhook_id CROSS JOIN clock
   ORDER BY claimed.id`,
}
/** Locks the webhook before the delivery, like every transaction that changes both. */
const LOCK_WEBHOOK = {
  name: 'lock-webhook',
  text: `SELECT failing_since AS "failingSince" FROM webhook WHERE id = $1::int FOR UPDATE`,
}
const SETTLE = {
  name: 'settle-delivery',
  text: `
  WITH ${CLOCK}
  UPDATE delivery SET state = $4::smallint, next_at = now + $5::bigint, claim = NULL,
         last_status = $6::smallint, last_error = $7, took_ms = $8::int
    FROM clock WHERE id = $2::bigint AND state = 0 AND claim = $3::bigint
  RETURNING id`,
}
const RECORD_FAILING = {
  name: 'record-failing-webhook',
  text: `
  WITH ${CLOCK}
  UPDATE webhook SET failing_since = CASE WHEN $3::boolean THEN now END
    FROM clock WHERE id = $2::int`,
}
const REDELIVER = {
  name: 'redeliver',
  text: `
  WITH ${CLOCK}
  UPDATE delivery SET state = 0, attempts = 0, since = now, next_at = now, claim = NULL,
         last_at = NULL, last_status = NULL, last_error = NULL, took_ms = NULL
    FROM clock WHERE id = $2::bigint AND webhook_id = $3::int
  RETURNING id`,
}
const OLD = {
  name: 'prune-deliveries',
  text: `
  DELETE FROM delivery WHERE id = ANY (ARRAY(
    SELECT id FROM delivery WHERE id < $1::bigint AND state > 0 ORDER BY id LIMIT $2::int))
  RETURNING 1`,
}
const RECORD = `
  SELECT id, webhook_id AS "webhookId", run_id AS "runId", event, body, state, attempts, since,
         created_at AS "createdAt", next_at AS "nextAt", last_at AS "lastAt",
         last_status AS "lastStatus", last_error AS "lastError", took_ms AS "tookMs" FROM delivery`
const DELIVERIES_OF = {
  name: 'deliveries-of',
  text: `${RECORD} WHERE webhook_id = $1::int AND id < $2::bigint ORDER BY id DESC LIMIT $3::int`,
}
const FIND_DELIVERY = {
  name: 'find-delivery',
  text: `${RECORD} WHERE id = $1::bigint AND webhook_id = $2::int`,
}

export async function addDelivery(db: Database, input: Input<'addDelivery'>): Promise<boolean> {
  const count = await transact(db.duty, (tx) => addDeliveries(tx, db.now(), [input]), 'single')
  return count === 1
}

type ClaimedRow = Omit<ClaimedDelivery, 'secrets'> & {
  readonly sealed: string
  readonly previous: string | null
}

export async function claimDeliveries(
  db: Database,
  { claim, leaseMs, limit, perWebhook, busy }: Input<'claimDeliveries'>,
): Promise<ClaimedDelivery[]> {
  const webhooks = ints(busy.map(({ webhookId }) => webhookId))
  const counts = ints(busy.map(({ count }) => count))
  const values = [db.now(), claim, leaseMs, limit, webhooks, counts, perWebhook]
  const rows = await transact(
    db.duty,
    (tx) => tx.query<ClaimedRow>(CLAIM_DELIVERIES, values),
    'single',
  )
  return rows.map(({ sealed, previous, ...row }) => ({
    ...row,
    secrets: previous === null ? [sealed] : [sealed, previous],
  }))
}

export async function settleDelivery(
  db: Database,
  input: Input<'settleDelivery'>,
): Promise<boolean> {
  const { webhookId, disable } = input
  if (!disable) return transact(db.duty, (tx) => settle(tx, db.now(), input))
  return transact(db.duty, (tx) =>
    inSubscription(tx, webhookId, async () => {
      if (!(await settle(tx, db.now(), input))) return false
      await disableWebhook(tx, db.now(), webhookId, disable.reason)
      await addAudit(tx, db.now(), disable.audit)
      return true
    }),
  )
}

async function settle(
  tx: Queryable,
  now: number | null,
  { id, webhookId, claim, waitMs, state, status, error, tookMs }: Input<'settleDelivery'>,
): Promise<boolean> {
  const [webhook] = await tx.query<{ failingSince: number | null }>(LOCK_WEBHOOK, [webhookId])
  const values = [now, id, claim, DELIVERY_CODE[state], waitMs, status, error, tookMs]
  if (!webhook || (await tx.query(SETTLE, values)).length === 0) return false
  const isAborted = error === null && state !== 'delivered'
  const isFailing = state !== 'delivered'
  if (!isAborted && isFailing !== (webhook.failingSince !== null)) {
    await tx.query(RECORD_FAILING, [now, webhookId, isFailing])
  }
  return true
}

export async function redeliver(
  db: Database,
  { id, webhookId, audit }: Input<'redeliver'>,
): Promise<boolean> {
  return transact(db.duty, async (tx) => {
    if ((await tx.query(REDELIVER, [db.now(), id, webhookId])).length === 0) return false
    await addAudit(tx, db.now(), audit)
    return true
  })
}

export async function pruneDeliveries(
  db: Database,
  { before, limit }: Input<'pruneDeliveries'>,
): Promise<{ more: boolean }> {
  const rows = await transact(db.duty, (tx) => tx.query(OLD, [before, limit]), 'single')
  return { more: rows.length === limit }
}

type RecordRow = Omit<DeliveryRecord, 'state'> & { readonly state: number }

export async function listDeliveries(
  db: Database,
  { webhookId, before, limit }: Input<'listDeliveries'>,
): Promise<DeliveryRecord[]> {
  const rows = await read<RecordRow>(pickLists(db), DELIVERIES_OF, [webhookId, before, limit])
  return rows.map(toRecord)
}

export async function findDelivery(
  db: Database,
  { id, webhookId }: Input<'findDelivery'>,
): Promise<DeliveryRecord | null> {
  const [row] = await read<RecordRow>(db.reading, FIND_DELIVERY, [id, webhookId])
  return row ? toRecord(row) : null
}

function toRecord({ state, ...row }: RecordRow): DeliveryRecord {
  return { ...row, state: DELIVERY_STATES[state] as DeliveryRecord['state'] }
}
