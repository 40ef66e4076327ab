import type { Database } from 'better-sqlite3'
import { EVENT_BIT } from '../../../core/webhook/webhook.ts'
import type { PutWebhookResult, WebhookRecord, WebhookStore } from '../../port.ts'
import type { Audit } from '../audit/audit.ts'
import type { Sync } from '../connection/sync.ts'

const COLUMNS = `
  id, project_id AS projectId, name, url, events, jobs, enabled, disabled_reason AS disabledReason,
  sealed, ending, previous_sealed AS previousSealed, previous_until AS previousUntil,
  failing_since AS failingSince, created_at AS createdAt, created_by AS createdBy,
  updated_at AS updatedAt`
export const FIND_WEBHOOK = `
  SELECT ${COLUMNS} FROM webhook WHERE project_id = :projectId AND name = :name`
export const WEBHOOKS_OF = `SELECT ${COLUMNS} FROM webhook WHERE project_id = ? ORDER BY name`
export const COUNT_WEBHOOKS = `SELECT count(*) FROM webhook WHERE project_id = ?`
const ADD_WEBHOOK = `
  INSERT INTO webhook (project_id, name, url, events, jobs, enabled, sealed, ending, created_at,
                       created_by, updated_at)
  VALUES (:projectId, :name, :url, :events, :jobs, :enabled, :sealed, :ending, :now, :actor, :now)`
export const CHANGE_WEBHOOK = `
  UPDATE webhook SET url = :url, events = :events, jobs = :jobs, enabled = :enabled,
         disabled_reason = NULL, failing_since = NULL, updated_at = :now
   WHERE id = :id`
export const ROTATE = `
  UPDATE webhook SET previous_sealed = sealed, previous_until = :until, sealed = :sealed,
         ending = :ending, updated_at = :now
   WHERE project_id = :projectId AND name = :name`
export const DELETE_WEBHOOK = `DELETE FROM webhook WHERE id = ?`
export const DELETE_DELIVERIES = `DELETE FROM delivery WHERE webhook_id = ?`
export const END_PENDING = `
  UPDATE delivery SET state = 2, next_at = NULL, claim = NULL, last_error = 'the webhook was disabled'
   WHERE webhook_id = ? AND state = 0`
export const DISABLE = `
  UPDATE webhook SET enabled = 0, disabled_reason = :reason, updated_at = :now WHERE id = :id`

/** The events that the enabled webhooks of a project subscribe to, one row each. */
const EVENTS_OF = `SELECT events FROM webhook WHERE project_id = ? AND enabled = 1`
const SET_SUBSCRIPTION = `
  INSERT INTO outbox_wish (project_id, events) VALUES (?, ?)
    ON CONFLICT (project_id) DO UPDATE SET events = excluded.events`
export const DROP_SUBSCRIPTION = `DELETE FROM outbox_wish WHERE project_id = ?`
/** A new subscription to recoveries starts empty: failures in between were not counted. */
export const FORGET_FAILING = `DELETE FROM failing_job WHERE project_id = ?`

type Row = Omit<WebhookRecord, 'enabled' | 'secret' | 'previous'> & {
  readonly enabled: number
  readonly sealed: string
  readonly ending: string
  readonly previousSealed: string | null
  readonly previousUntil: number | null
}
type Input<Name extends keyof WebhookStore> = Parameters<WebhookStore[Name]>[0]

export interface WebhookChanges {
  putWebhook(input: Input<'putWebhook'>, now: number): PutWebhookResult
  rotateWebhook(input: Input<'rotateWebhook'>, now: number): boolean
  deleteWebhook(input: Input<'deleteWebhook'>, now: number): boolean
  /** Runs inside the caller's transaction. */
  disable(webhook: { id: number; projectId: number }, reason: string, now: number): void
}

export function prepareWebhooks(db: Database, audit: Audit): WebhookChanges {
  const find = db.prepare<[object], Row>(FIND_WEBHOOK)
  const count = db.prepare<[number], number>(COUNT_WEBHOOKS).pluck()
  const add = db.prepare(ADD_WEBHOOK)
  const change = db.prepare(CHANGE_WEBHOOK)
  const rotate = db.prepare(ROTATE)
  const remove = db.prepare(DELETE_WEBHOOK)
  const removeDeliveries = db.prepare(DELETE_DELIVERIES)
  const endPending = db.prepare(END_PENDING)
  const switchOff = db.prepare(DISABLE)
  const eventsOf = db.prepare<[number], number>(EVENTS_OF).pluck()
  const setSubscription = db.prepare(SET_SUBSCRIPTION)
  const dropSubscription = db.prepare(DROP_SUBSCRIPTION)
  const forgetFailing = db.prepare(FORGET_FAILING)

  const renewSubscription = (projectId: number) => {
    const subscribed = eventsOf.all(projectId).reduce((all, events) => all | events, 0)
    if (subscribed === 0) dropSubscription.run(projectId)
    else setSubscription.run(projectId, subscribed)
    if ((subscribed & EVENT_BIT['run.recovered']) === 0) forgetFailing.run(projectId)
  }

  return {
    putWebhook(input, now) {
      const { projectId, name, url, events, jobs, secret, onlyIfNew, maxWebhooks } = input
      const known = find.get({ projectId, name })
      if (known && onlyIfNew) return 'exists'
      if (!known && (count.get(projectId) ?? 0) >= maxWebhooks) return 'full'
      const enabled = input.enabled ? 1 : 0
      const said = { url, events, jobs, enabled, now }
      if (known) change.run({ ...said, id: known.id })
      else {
        const { actor } = input.audit
        const { sealed, ending } = secret
        add.run({ ...said, projectId, name, sealed, ending, actor })
      }
      if (known && !input.enabled) endPending.run(known.id)
      renewSubscription(projectId)
      audit(input.audit, now)
      return known ? 'changed' : 'created'
    },

    rotateWebhook({ projectId, name, secret, keepMs, audit: entry }, now) {
      const { sealed, ending } = secret
      const until = now + keepMs
      const { changes } = rotate.run({ projectId, name, sealed, ending, until, now })
      if (changes === 0) return false
      audit(entry, now)
      return true
    },

    deleteWebhook({ projectId, name, audit: entry }, now) {
      const known = find.get({ projectId, name })
      if (!known) return false
      remove.run(known.id)
      removeDeliveries.run(known.id)
      renewSubscription(projectId)
      audit(entry, now)
      return true
    },

    disable({ id, projectId }, reason, now) {
      switchOff.run({ id, reason, now })
      endPending.run(id)
      renewSubscription(projectId)
    },
  }
}

export function prepareWebhookQueries(
  db: Database,
): Sync<Pick<WebhookStore, 'findWebhook' | 'listWebhooks'>> {
  const find = db.prepare<[object], Row>(FIND_WEBHOOK)
  const listOf = db.prepare<[number], Row>(WEBHOOKS_OF)
  return {
    findWebhook({ projectId, name }) {
      const row = find.get({ projectId, name })
      return row ? toRecord(row) : null
    },
    listWebhooks: ({ projectId }) => listOf.all(projectId).map(toRecord),
  }
}

/** Enabled webhooks only. */
export function prepareWebhooksOf(
  db: Database,
): (projectIds: readonly number[]) => WebhookRecord[] {
  const listOf = db.prepare<[number], Row>(WEBHOOKS_OF)
  return (projectIds) =>
    projectIds
      .flatMap((projectId) => listOf.all(projectId))
      .map(toRecord)
      .filter(({ enabled }) => enabled)
}

function toRecord(row: Row): WebhookRecord {
  const { enabled, sealed, ending, previousSealed, previousUntil, ...rest } = row
  return {
    ...rest,
    enabled: enabled === 1,
    secret: { sealed, ending },
    previous:
      previousSealed === null ? null : { sealed: previousSealed, until: previousUntil as number },
  }
}
