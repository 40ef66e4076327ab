import type { Database } from 'better-sqlite3'
import { type FinalState, stateOfCode } from '../../../core/run/run-state.ts'
import { BIT_OF_END, EVENT_BIT } from '../../../core/webhook/webhook.ts'
import type { ExpandedEvent, OutboxEvent, OutboxStore } from '../../port.ts'
import { type AddDelivery, prepareAddDelivery } from './add-deliveries.ts'
import { ascending } from '../tick-state/tick-state.ts'
import type { Sync } from '../operations/operations.ts'
import { prepareWebhooksOf } from './webhooks.ts'

export const ANY_WISH = `SELECT 1 FROM outbox_wish LIMIT 1`
export const WISHED_END = `
  SELECT run.project_id AS projectId, job_id AS jobId, status, events AS wished,
         (SELECT since FROM failing_job WHERE job_id = run.job_id) AS failingSince
    FROM run JOIN outbox_wish AS wish ON wish.project_id = run.project_id
   WHERE run.id = ? AND status >= 4`
export const NOW_FAILING = `INSERT INTO failing_job (job_id, project_id, since) VALUES (?, ?, ?)`
export const NOW_FINE = `DELETE FROM failing_job WHERE job_id = ?`
export const ADD_EVENT = `
  INSERT INTO outbox (run_id, project_id, job_id, events, failing_since, at)
  VALUES (?, ?, ?, ?, ?, ?)`
const EVENTS = `
  SELECT id, run_id AS runId, project_id AS projectId, job_id AS jobId, events,
         failing_since AS failingSince, at
    FROM outbox ORDER BY id LIMIT ?`
export const NEXT_DUE = `SELECT next_at FROM delivery WHERE state = 0 ORDER BY next_at LIMIT 1`
export const TAKE_EVENT = `DELETE FROM outbox WHERE id = ?`

interface WishedEnd {
  readonly projectId: number
  readonly jobId: number
  readonly status: number
  /** What webhooks of the project ask for. */
  readonly wished: number
  readonly failingSince: number | null
}

/** Writes down, in the tick that ended them, which runs somebody wants to be told of. */
export type NoteEnds = (runIds: () => Iterable<number>, now: number) => void

export function prepareNoteEnds(db: Database): NoteEnds {
  const anyWish = db.prepare(ANY_WISH)
  const find = db.prepare<[number], WishedEnd>(WISHED_END)
  const nowFailing = db.prepare(NOW_FAILING)
  const nowFine = db.prepare(NOW_FINE)
  const add = db.prepare(ADD_EVENT)

  /** The events it is; what its job is known for changes with it. */
  const judge = (end: WishedEnd, state: FinalState, now: number): number => {
    const { jobId, projectId, wished, failingSince } = end
    if ((wished & EVENT_BIT['run.recovered']) === 0) return BIT_OF_END[state]
    if (state === 'failed' && failingSince === null) nowFailing.run(jobId, projectId, now)
    if (state !== 'succeeded' || failingSince === null) return BIT_OF_END[state]
    nowFine.run(jobId)
    return BIT_OF_END[state] | EVENT_BIT['run.recovered']
  }

  return (runIds, now) => {
    if (anyWish.get() === undefined) return
    for (const runId of ascending(runIds())) {
      const end = find.get(runId)
      if (!end) continue
      const events = judge(end, stateOfCode(end.status) as FinalState, now)
      if ((events & end.wished) === 0) continue
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
  const nextDue = db.prepare<[], number>(NEXT_DUE).pluck()
  const webhooksOf = prepareWebhooksOf(db)
  return {
    webhookWork: () => ({
      hasEvents: events.get(1) !== undefined,
      dueAt: nextDue.get() ?? null,
    }),
    outboxEvents: ({ limit }) => events.all(limit),
    webhooksOf,
  }
}
