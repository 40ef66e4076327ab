import { STATE_CODE } from '../../../core/run/run-state.ts'
import { BIT_OF_END, EVENT_BIT } from '../../../core/webhook/webhook.ts'
import type { ExpandedEvent, OutboxEvent, OutboxStore } from '../../port.ts'
import { addDeliveries } from './add-deliveries.ts'
import { bigints } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { CLOCK, reportedElsewhere, type Work } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'

const { failed, succeeded, cancelled } = STATE_CODE
const RECOVERED = EVENT_BIT['run.recovered']

/**
 * Those of the given runs that ended in this very transaction: an end that was reported twice is
 * there already, and was noted then.
 */
const ended = (ids: string) => `
  SELECT item.run_id, e.project_id, e.state FROM unnest(${ids}::bigint[]) AS item (run_id)
   CROSS JOIN LATERAL (
     SELECT run_end.project_id, run_end.state FROM run_end
      WHERE run_end.run_id = item.run_id AND run_end.xmin = pg_current_xact_id()::xid LIMIT 1) e`

/**
 * Whoever may change what a job is known for takes turns with others of its project, and what is the
 * last end of a job is the order of these turns. A statement of its own, because only the next one
 * sees what those before us did. Successes where nothing fails do not wait for anybody: one that is
 * written at the same time as a failure counts as the earlier.
 */
export const TAKE_TURNS = {
  name: 'outbox-turn',
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
 * Successes where nobody asks for them and nothing fails are left out before their job is looked up.
 * A job is fine again for whoever deletes its row: of two successes at once, only one does. Events
 * come after that, so that their order is the order of what they tell.
 */
export const NOTE_ENDS = {
  name: 'note-ends',
  text: `
  WITH ${CLOCK},
  ended AS MATERIALIZED (${ended('$2')}),
  wished AS MATERIALIZED (
    SELECT ended.*, wish.events AS wished, wish.events & ${RECOVERED} <> 0 AS counted,
           bool_or(state = ${failed}) OVER (PARTITION BY project_id) AS fails
      FROM ended CROSS JOIN LATERAL (
        SELECT events FROM outbox_wish w WHERE w.project_id = ended.project_id LIMIT 1) wish),
  told AS MATERIALIZED (
    SELECT wished.*, spec.job_id FROM wished
     CROSS JOIN LATERAL (SELECT job_id FROM run WHERE run.id = wished.run_id LIMIT 1) spec
     WHERE fails OR state <> ${succeeded} OR wished & ${BIT_OF_END.succeeded} <> 0
        OR EXISTS (SELECT FROM failing_job f WHERE f.project_id = wished.project_id)),
  now_fine AS (
    DELETE FROM failing_job
     WHERE job_id = ANY (ARRAY(SELECT job_id FROM told WHERE counted AND state = ${succeeded}))
    RETURNING job_id, since),
  judged AS MATERIALIZED (
    SELECT told.*,
           counted AND state = ${succeeded}
             AND coalesce(lag(state) OVER earlier = ${failed}, now_fine.since IS NOT NULL)
             AS recovered,
           CASE WHEN bool_or(state = ${succeeded}) OVER (earlier ROWS BETWEEN UNBOUNDED PRECEDING
                       AND 1 PRECEDING) THEN NULL ELSE now_fine.since END AS since
      FROM told LEFT JOIN now_fine USING (job_id)
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
    SELECT told.run_id, told.project_id, told.job_id, told.wished,
           CASE told.state WHEN ${failed} THEN ${BIT_OF_END.failed}
                           WHEN ${succeeded} THEN ${BIT_OF_END.succeeded}
                           WHEN ${cancelled} THEN ${BIT_OF_END.cancelled} ELSE 0 END
             | CASE WHEN recovered THEN ${RECOVERED} ELSE 0 END AS events,
           CASE WHEN recovered THEN coalesce(since, now) END AS failing_since
      FROM told LEFT JOIN judged USING (run_id) CROSS JOIN clock),
  to_outbox AS (
    INSERT INTO outbox (run_id, project_id, job_id, events, failing_since, at)
    SELECT run_id, events.project_id, events.job_id, events, failing_since, now
      FROM events CROSS JOIN clock
     WHERE events & wished <> 0 AND (SELECT count(*) FROM now_failing) >= 0
     ORDER BY run_id)
  SELECT EXISTS (SELECT FROM outbox_wish) AS wished`,
}

/**
 * Writes down which of these runs somebody wants to be told of, after whatever ended them in the same
 * transaction. Says whether any webhook asks for anything at all.
 */
export function noteEnds(
  work: Work,
  now: number | null,
  runIds: readonly number[],
): Promise<boolean> {
  void reportedElsewhere(work.query(TAKE_TURNS, [bigints(runIds)]))
  const answer = work.query<{ wished: boolean }>(NOTE_ENDS, [now, bigints(runIds)])
  return reportedElsewhere(answer.then(([row]) => row!.wished))
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

export async function webhookWork(db: Database): ReturnType<OutboxStore['webhookWork']> {
  const [row] = await read<Awaited<ReturnType<OutboxStore['webhookWork']>>>(db.duty, WORK)
  return row!
}

export async function outboxEvents(
  db: Database,
  { limit }: Parameters<OutboxStore['outboxEvents']>[0],
): Promise<OutboxEvent[]> {
  return read<OutboxEvent>(db.duty, EVENTS, [limit])
}

export async function expandOutbox(db: Database, events: readonly ExpandedEvent[]): Promise<void> {
  await transact(db.duty, async (work) => {
    const ids = bigints(events.map(({ id }) => id))
    const rows = await work.query<{ id: number }>(TAKE_EVENTS, [ids])
    const taken = new Set(rows.map(({ id }) => id))
    const deliveries = events.filter(({ id }) => taken.has(id)).flatMap((event) => event.deliveries)
    if (deliveries.length > 0) await addDeliveries(work, db.now(), deliveries)
  })
}
