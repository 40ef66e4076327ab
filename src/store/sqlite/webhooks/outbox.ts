import type { Database } from 'better-sqlite3'
import { type FinalState, stateOfCode } from '../../../core/run/run-state.ts'
import { RUN_END_EVENT_BIT, EVENT_BIT } from '../../../core/webhook/webhook.ts'
import type { ExpandedEvent, OutboxEvent, OutboxStore } from '../../port.ts'
import { type AddDelivery, prepareAddDelivery } from './add-deliveries.ts'
import { ascending } from '../tick-state/tick-state.ts'
import type { Sync } from '../connection/sync.ts'
import { prepareWebhooksOf } from './webhooks.ts'

export const ANY_SUBSCRIPTION = `SELECT 1 FROM outbox_wish LIMIT 1`
export const SUBSCRIBED_END = `
  SELECT run.project_id AS projectId, job_id AS jobId, status, events AS subscribed,
         (SELECT since FROM failing_job WHERE job_id = run.job_id) AS failingSince
    FROM run JOIN outbox_wish AS wish ON wish.project_id = run.project_id
   WHERE run.id = ? AND status >= 4`
export const MARK_FAILING = `INSERT INTO failing_job (job_id, project_id, since) VALUES (?, ?, ?)`
export const CLEAR_FAILING = `DELETE FROM failing_job WHERE job_id = ?`
export const ADD_EVENT = `
  INSERT INTO outbox (run_id, project_id, job_id, events, failing_since, at)
  VALUES (?, ?, ?, ?, ?, ?)`
const EVENTS = `
  SELECT id, run_id AS runId, project_id AS projectId, job_id AS jobId, events,
         failing_since AS failingSince, at
    FROM outbox ORDER BY id LIMIT ?`
export const NEXT_DELIVERY_DUE = `SELECT next_at FROM delivery WHERE state = 0 ORDER BY next_at LIMIT 1`
export const TAKE_EVENT = `DELETE FROM outbox WHERE id = ?`

interface SubscribedEnd {
  readonly projectId: number
  readonly jobId: number
  readonly status: number
  /** Events that webhooks of the project subscribe to. */
  readonly subscribed: number
  readonly failingSince: number | null
}

/**
 * Records outbox events, in the tick that ended the runs, for ends that a webhook subscribes to.
 */
export type RecordOutboxEvents = (runIds: () => Iterable<number>, now: number) => void

export function prepareRecordOutboxEvents(db: Database): RecordOutboxEvents {
  const anySubscription = db.prepare(ANY_SUBSCRIPTION)
  const find = db.prepare<[number], SubscribedEnd>(SUBSCRIBED_END)
  const markFailing = db.prepare(MARK_FAILING)
  const clearFailing = db.prepare(CLEAR_FAILING)
  const add = db.prepare(ADD_EVENT)

  /** The event bits of an end; also updates whether its job is failing. */
  const eventBitsOf = (end: SubscribedEnd, state: FinalState, now: number): number => {
    const { jobId, projectId, subscribed, failingSince } = end
    if ((subscribed & EVENT_BIT['run.recovered']) === 0) return RUN_END_EVENT_BIT[state]
    if (state === 'failed' && failingSince === null) markFailing.run(jobId, projectId, now)
    if (state !== 'succeeded' || failingSince === null) return RUN_END_EVENT_BIT[state]
    clearFailing.run(jobId)
    return RUN_END_EVENT_BIT[state] | EVENT_BIT['run.recovered']
  }

  return (runIds, now) => {
    if (anySubscription.get() === undefined) return
    for (const runId of ascending(runIds())) {
      const end = find.get(runId)
      if (!end) continue
      const events = eventBitsOf(end, stateOfCode(end.status) as FinalState, now)
      if ((events & end.subscribed) === 0) continue
      const since = events & EVENT_BIT['run.recovered'] ? end.failingSince : null
      add.run(runId, end.projectId, end.jobId, events, since, now)
    }
  }
}

export function prepareExpandOutbox(
  db: Database,
): (events: readonly ExpandedEvent[], now: number) => void {
  const take = db.prepare(TAKE_EVENT)
  const addDelivery: AddDelivery = prepareAddDelivery(db)
  return (events, now) => {
    for (const { id, deliveries } of events) {
      if (take.run(id).changes === 0) continue
      for (const delivery of deliveries) addDelivery(delivery, now)
    }
  }
}

export function prepareOutboxQueries(db: Database): Sync<Omit<OutboxStore, 'expandOutbox'>> {
  const events = db.prepare<[number], OutboxEvent>(EVENTS)
  const nextDue = db.prepare<[], number>(NEXT_DELIVERY_DUE).pluck()
  const webhooksOf = prepareWebhooksOf(db)
  return {
    pendingWebhookWork: () => ({
      hasEvents: events.get(1) !== undefined,
      dueAt: nextDue.get() ?? null,
    }),
    outboxEvents: ({ limit }) => events.all(limit),
    webhooksOf,
  }
}
