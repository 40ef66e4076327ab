import { EVENT_BIT } from '../../../core/webhook/webhook.ts'
import type { PutWebhookResult, WebhookRecord, WebhookStore } from '../../port.ts'
import { addAudit } from '../audit/audit.ts'
import { ints } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { CLOCK, type Queryable } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'

type Input<Name extends keyof WebhookStore> = Parameters<WebhookStore[Name]>[0]

const COLUMNS = `
  id, project_id AS "projectId", name, url, events, jobs, enabled,
  disabled_reason AS "disabledReason", sealed, ending, previous_sealed AS "previousSealed",
  previous_until AS "previousUntil", failing_since AS "failingSince", created_at AS "createdAt",
  created_by AS "createdBy", updated_at AS "updatedAt"`
const FIND_WEBHOOK = {
  name: 'find-webhook',
  text: `SELECT ${COLUMNS} FROM webhook WHERE project_id = $1::int AND name = $2`,
}
const WEBHOOKS_OF = {
  name: 'webhooks-of',
  text: `SELECT ${COLUMNS} FROM webhook WHERE project_id = $1::int ORDER BY name COLLATE "C"`,
}
const ENABLED_OF = {
  name: 'enabled-webhooks-of',
  text: `
  SELECT ${COLUMNS} FROM webhook WHERE project_id = ANY ($1::int[]) AND enabled
   ORDER BY project_id, name COLLATE "C"`,
}
/**
 * The project's subscription row serves as a lock: changes of webhooks of a project are serialized,
 * also with the ticks that end its runs. The row exists before the webhooks are read.
 */
const LOCK_SUBSCRIPTION = {
  name: 'lock-subscription',
  text: `
  INSERT INTO outbox_wish AS wish (project_id, events) VALUES ($1::int, 0)
      ON CONFLICT (project_id) DO UPDATE SET events = wish.events`,
}
const COUNT_AND_FIND = {
  name: 'count-webhooks',
  text: `
  SELECT count(*)::int AS count, max(id) FILTER (WHERE name = $2) AS id
    FROM webhook WHERE project_id = $1::int`,
}
const ADD_WEBHOOK = {
  name: 'add-webhook',
  text: `
  WITH ${CLOCK}
  INSERT INTO webhook (project_id, name, url, events, jobs, enabled, sealed, ending, created_at,
                       created_by, updated_at)
  SELECT $2::int, $3, $4, $5::smallint, $6, $7::boolean, $8, $9, now, $10::int, now FROM clock`,
}
const CHANGE_WEBHOOK = {
  name: 'change-webhook',
  text: `
  WITH ${CLOCK}
  UPDATE webhook SET url = $3, events = $4::smallint, jobs = $5, enabled = $6::boolean,
         disabled_reason = NULL, failing_since = NULL, updated_at = now
    FROM clock WHERE id = $2::int`,
}
const ROTATE = {
  name: 'rotate-webhook',
  text: `
  WITH ${CLOCK}
  UPDATE webhook SET previous_sealed = sealed, previous_until = now + $4::bigint, sealed = $5,
         ending = $6, updated_at = now
    FROM clock WHERE project_id = $2::int AND name = $3
  RETURNING id`,
}
const DELETE_WEBHOOK = {
  name: 'delete-webhook',
  text: `
  WITH deleted AS (
    DELETE FROM webhook WHERE project_id = $1::int AND name = $2 RETURNING id),
  deliveries AS (DELETE FROM delivery WHERE webhook_id = ANY (ARRAY(SELECT id FROM deleted)))
  SELECT id FROM deleted`,
}
const END_PENDING = {
  name: 'end-pending-deliveries',
  text: `
  UPDATE delivery SET state = 2, next_at = NULL, claim = NULL, last_error = 'the webhook was disabled'
   WHERE webhook_id = $1::int AND state = 0`,
}
const DISABLE = {
  name: 'disable-webhook',
  text: `
  WITH ${CLOCK}
  UPDATE webhook SET enabled = false, disabled_reason = $3, updated_at = now
    FROM clock WHERE id = $2::int`,
}
const PROJECT_OF = {
  name: 'project-of-webhook',
  text: `SELECT project_id AS "projectId" FROM webhook WHERE id = $1::int`,
}
/** A new subscription to recoveries starts empty: failures in between were not counted. */
const RENEW_SUBSCRIPTION = {
  name: 'renew-subscription',
  text: `
  WITH subscribed AS MATERIALIZED (
    SELECT coalesce(bit_or(events), 0)::smallint AS events
      FROM webhook WHERE project_id = $1::int AND enabled),
  forgotten AS (
    DELETE FROM failing_job USING subscribed
     WHERE project_id = $1::int AND subscribed.events & ${EVENT_BIT['run.recovered']} = 0),
  dropped AS (
    DELETE FROM outbox_wish USING subscribed WHERE project_id = $1::int AND subscribed.events = 0)
  UPDATE outbox_wish SET events = subscribed.events FROM subscribed
   WHERE project_id = $1::int AND subscribed.events <> 0`,
}

type Row = Omit<WebhookRecord, 'secret' | 'previous'> & {
  readonly sealed: string
  readonly ending: string
  readonly previousSealed: string | null
  readonly previousUntil: number | null
}

interface Found {
  readonly count: number
  readonly id: number | null
}

export async function putWebhook(
  db: Database,
  input: Input<'putWebhook'>,
): Promise<PutWebhookResult> {
  const { projectId, name, url, events, jobs, enabled, secret, onlyIfNew, maxWebhooks, audit } =
    input
  const put = async (tx: Queryable): Promise<PutWebhookResult> => {
    const [found] = await tx.query<Found>(COUNT_AND_FIND, [projectId, name])
    const { count, id } = found!
    if (id !== null && onlyIfNew) return 'exists'
    if (id === null && count >= maxWebhooks) return 'full'
    const now = db.now()
    const said = [url, events, jobs, enabled]
    if (id === null) {
      const { sealed, ending } = secret
      const values = [now, projectId, name, ...said, sealed, ending, audit.actor]
      await tx.query(ADD_WEBHOOK, values)
    } else await tx.query(CHANGE_WEBHOOK, [now, id, ...said])
    if (id !== null && !enabled) await tx.query(END_PENDING, [id])
    await addAudit(tx, now, audit)
    return id === null ? 'created' : 'changed'
  }
  return transact(db.duty, (tx) => changing(tx, projectId, () => put(tx)))
}

export async function rotateWebhook(
  db: Database,
  { projectId, name, secret, keepMs, audit }: Input<'rotateWebhook'>,
): Promise<boolean> {
  return transact(db.duty, async (tx) => {
    const values = [db.now(), projectId, name, keepMs, secret.sealed, secret.ending]
    if ((await tx.query(ROTATE, values)).length === 0) return false
    await addAudit(tx, db.now(), audit)
    return true
  })
}

export async function deleteWebhook(
  db: Database,
  { projectId, name, audit }: Input<'deleteWebhook'>,
): Promise<boolean> {
  return transact(db.duty, (tx) =>
    changing(tx, projectId, async () => {
      if ((await tx.query(DELETE_WEBHOOK, [projectId, name])).length === 0) return false
      await addAudit(tx, db.now(), audit)
      return true
    }),
  )
}

/** Runs inside the caller's transaction, under the lock of the project's subscription row. */
export async function disableWebhook(
  tx: Queryable,
  now: number | null,
  webhookId: number,
  reason: string,
): Promise<void> {
  await tx.query(DISABLE, [now, webhookId, reason])
  await tx.query(END_PENDING, [webhookId])
}

/** Like `changing`, for the project of a webhook. */
export async function inSubscription(
  tx: Queryable,
  webhookId: number,
  body: () => Promise<boolean>,
): Promise<boolean> {
  const [webhook] = await tx.query<{ projectId: number }>(PROJECT_OF, [webhookId])
  return webhook ? changing(tx, webhook.projectId, body) : false
}

/** Changes webhooks of a project under its lock, and then updates the union of their events. */
async function changing<T>(tx: Queryable, projectId: number, body: () => Promise<T>): Promise<T> {
  await tx.query(LOCK_SUBSCRIPTION, [projectId])
  const result = await body()
  await tx.query(RENEW_SUBSCRIPTION, [projectId])
  return result
}

export async function findWebhook(
  db: Database,
  { projectId, name }: Input<'findWebhook'>,
): Promise<WebhookRecord | null> {
  const [row] = await read<Row>(db.reading, FIND_WEBHOOK, [projectId, name])
  return row ? toRecord(row) : null
}

export async function listWebhooks(
  db: Database,
  { projectId }: Input<'listWebhooks'>,
): Promise<WebhookRecord[]> {
  return (await read<Row>(db.reading, WEBHOOKS_OF, [projectId])).map(toRecord)
}

export async function webhooksOf(
  db: Database,
  projectIds: readonly number[],
): Promise<WebhookRecord[]> {
  return (await read<Row>(db.duty, ENABLED_OF, [ints(projectIds)])).map(toRecord)
}

function toRecord(row: Row): WebhookRecord {
  const { sealed, ending, previousSealed, previousUntil, ...rest } = row
  const previous =
    previousSealed === null ? null : { sealed: previousSealed, until: previousUntil as number }
  return { ...rest, secret: { sealed, ending }, previous }
}
