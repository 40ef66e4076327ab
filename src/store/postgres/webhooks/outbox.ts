import { STATE_CODE } from '../../../core/run/run-state.ts'
import { RUN_END_EVENT_BIT, EVENT_BIT } from '../../../core/webhook/webhook.ts'
import type { ExpandedEvent, OutboxEvent, OutboxStore } from '../../port.ts'
import { addDeliveries } from './add-deliveries.ts'
import { bigints } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { CLOCK, reportedElsewhere, type Queryable } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'

const { failed, succeeded, cancelled } = STATE_CODE
const RECOVERED = EVENT_BIT['run.recovered']

/**
 * The runs among these that ended in this transaction: the end of a repeated report exists already,
 * and was recorded then.
 */
const ended = (ids: string) => `
  SELECT item.run_id, e.project_id, e.state FROM unnest(${ids}::bigint[]) AS item (run_id)
   CROSS JOIN LATERAL (
     SELECT run_end.project_id, run_end.state FROM run_end
      WHERE run_end.run_id = item.run_id AND run_end.xmin = pg_current_xact_id()::xid LIMIT 1) e`

/**
 * Transactions that may change whether a job is failing are serialized per project, and their order
 * decides which end is the last. This is a separate statement, because only the next one sees the
 * changes of earlier transactions. Successes where nothing fails do not wait: one that is written
 * concurrently with a failure counts as the earlier.
 */
export const SERIALIZE_ENDS = {
  name: 'serialize-ends',
  text: `
  WITH ended AS MATERIALIZED (${ended('$1')}),
  touched AS (
    SELECT DISTINCT project_id FROM ended
     WHERE state = ${failed} OR (state = ${succeeded} AND EXISTS (
             SELECT FROM failing_job f WHERE f.project_id = ended.project_id)))
  SELECT 1 FROM outbox_wish
   WHERE project_id = ANY (ARRAY(SELECT project_id FROM touched)) AND events & ${RECOVERED} <> 0
   ORDER BY project_id FOR UPDATE`,
}

/**
 * Successes without a subscription and without a failing job are left out before their job is
 * looked up. The transaction that deletes the failing_job row reports the recovery: of two
 * concurrent successes, only one does. Events are inserted after that, so that their order matches.
 */
export const RECORD_OUTBOX_EVENTS = {
  name: 'record-outbox-events',
  text: `
  WITH ${CLOCK},
  ended AS MATERIALIZED (${ended('$2')}),
  subscribed AS MATERIALIZED (
    SELECT ended.*, wish.events AS subscribed, wish.events & ${RECOVERED} <> 0 AS counted,
           bool_or(state = ${failed}) OVER (PARTITION BY project_id) AS fails
      FROM ended CROSS JOIN LATERAL (
        SELECT events FROM outbox_wish w WHERE w.project_id = ended.project_id LIMIT 1) wish),
  reported AS MATERIALIZED (
    SELECT subscribed.*, spec.job_id FROM subscribed
     CROSS JOIN LATERAL (SELECT job_id FROM run WHERE run.id = subscribed.run_id LIMIT 1) spec
     WHERE fails OR state <> ${succeeded} OR subscribed & ${RUN_END_EVENT_BIT.succeeded} <> 0
        OR EXISTS (SELECT FROM failing_job f WHERE f.project_id = subscribed.project_id)),
  now_fine AS (
    DELETE FROM failing_job
     WHERE job_id = ANY (ARRAY(SELECT job_id FROM reported WHERE counted AND state = ${succeeded}))
    RETURNING job_id, since),
  judged AS MATERIALIZED (
    SELECT reported.*,
           counted AND state = ${succeeded}
             AND coalesce(lag(state) OVER earlier = ${failed}, now_fine.since IS NOT NULL)
             AS recovered,
           CASE WHEN bool_or(state = ${succeeded}) OVER (earlier ROWS BETWEEN UNBOUNDED PRECEDING
                       AND 1 PRECEDING) THEN NULL ELSE now_fine.since END AS since
      FROM reported LEFT JOIN now_fine USING (job_id)
     WHERE state IN (${failed}, ${succeeded})
    WINDOW earlier AS (PARTITION BY job_id ORDER BY run_id)),
  latest AS (
    SELECT DISTINCT ON (job_id) job_id, project_id, state FROM judged WHERE counted
     ORDER BY job_id, run_id DESC),
  now_failing AS (
    INSERT INTO failing_job (job_id, project_id, since)
    SELECT job_id, project_id, now FROM latest CROSS JOIN clock WHERE state = ${failed}
     ORDER BY job_id
        ON CONFLICT (job_id) DO NOTHING
    RETURNING 1),
  events AS (
    SELECT reported.run_id, reported.project_id, reported.job_id, reported.subscribed,
           CASE reported.state WHEN ${failed} THEN ${RUN_END_EVENT_BIT.failed}
                           WHEN ${succeeded} THEN ${RUN_END_EVENT_BIT.succeeded}
                           WHEN ${cancelled} THEN ${RUN_END_EVENT_BIT.cancelled} ELSE 0 END
             | CASE WHEN recovered THEN ${RECOVERED} ELSE 0 END AS events,
           CASE WHEN recovered THEN coalesce(since, now) END AS failing_since
      FROM reported LEFT JOIN judged USING (run_id) CROSS JOIN clock),
  to_outbox AS (
    INSERT INTO outbox (run_id, project_id, job_id, events, failing_since, at)
    SELECT run_id, events.project_id, events.job_id, events, failing_since, now
      FROM events CROSS JOIN clock
     WHERE events & subscribed <> 0 AND (SELECT count(*) FROM now_failing) >= 0
     ORDER BY run_id)
  SELECT EXISTS (SELECT FROM outbox_wish) AS subscribed`,
}

/**
 * Records outbox events for these runs. Call it after the statements that end them, in the same
 * transaction. Returns whether any webhook subscribes to anything.
 */
export function recordOutboxEvents(
  tx: Queryable,
  now: number | null,
  runIds: readonly number[],
): Promise<boolean> {
  void reportedElsewhere(tx.query(SERIALIZE_ENDS, [bigints(runIds)]))
  const answer = tx.query<{ subscribed: boolean }>(RECORD_OUTBOX_EVENTS, [now, bigints(runIds)])
  return reportedElsewhere(answer.then(([row]) => row!.subscribed))
}

const EVENTS = {
  name: 'outbox-events',
  text: `
  SELECT id, run_id AS "runId", project_id AS "projectId", job_id AS "jobId", events,
         failing_since AS "failingSince", at
    FROM outbox ORDER BY id LIMIT $1::int`,
}
const WORK = {
  name: 'webhook-work',
  text: `
  SELECT EXISTS (SELECT FROM outbox) AS "hasEvents",
         (SELECT next_at FROM delivery WHERE state = 0 ORDER BY next_at LIMIT 1) AS "dueAt"`,
}
const TAKE_EVENTS = {
  name: 'take-outbox',
  text: `DELETE FROM outbox WHERE id = ANY ($1::bigint[]) RETURNING id`,
}

export async function pendingWebhookWork(
  db: Database,
): ReturnType<OutboxStore['pendingWebhookWork']> {
  const [row] = await read<Awaited<ReturnType<OutboxStore['pendingWebhookWork']>>>(db.duty, WORK)
  return row!
}

export async function outboxEvents(
  db: Database,
  { limit }: Parameters<OutboxStore['outboxEvents']>[0],
): Promise<OutboxEvent[]> {
  return read<OutboxEvent>(db.duty, EVENTS, [limit])
}

export async function expandOutbox(db: Database, events: readonly ExpandedEvent[]): Promise<void> {
  await transact(db.duty, async (tx) => {
    const ids = bigints(events.map(({ id }) => id))
    const rows = await tx.query<{ id: number }>(TAKE_EVENTS, [ids])
    const taken = new Set(rows.map(({ id }) => id))
    const deliveries = events.filter(({ id }) => taken.has(id)).flatMap((event) => event.deliveries)
    if (deliveries.length > 0) await addDeliveries(tx, db.now(), deliveries)
  })
}
