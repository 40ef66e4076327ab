import { type Cause, STATE_CODE } from '../../../core/run/run-state.ts'
import { MAX_AHEAD_MS } from '../../fire-ahead.ts'
import type { EndCommand } from '../../port.ts'
import { bigints, ints, smallints, texts } from '../connection/binary-arrays.ts'
import { hasWaiters } from '../signals/emit-signals.ts'
import {
  failAssumption,
  NO_GATES_VIOLATED,
  NO_KEYS_VIOLATED,
  NO_WAITERS_VIOLATED,
  NO_WEBHOOKS_VIOLATED,
  SIMPLE_SUCCESSES_VIOLATED,
} from './tick-assumptions.ts'
import { CLOCK, reportedElsewhere, type Queryable } from '../connection/statement.ts'

export interface EndedAttempts {
  readonly now: number
  /** Which commands found their lease, counted from 1; null when all did. */
  readonly ended: ReadonlySet<number> | null
  /** Lanes that got a run back. */
  readonly lanes: readonly number[]
  /** A gate once per slot that was freed. */
  readonly gates: readonly number[]
  readonly nextDueAt: number | null
}

const RETRY = 8
const GIVEN_BACK = 9
const TARGET = { ...STATE_CODE, retry: RETRY, given_back: GIVEN_BACK } as const

/**
 * Whether a webhook may subscribe to one of these ends; costs nothing where there are no webhooks.
 */
const hasSubscribers = (ended: string) => `
    EXISTS (SELECT FROM outbox_wish) AND EXISTS (
      SELECT FROM outbox_wish WHERE project_id = ANY (ARRAY(SELECT project_id FROM ${ended})))`

/**
 * `target` is the final target state: with a cancel mark, everything but success becomes cancelled.
 * Leases are deleted by key and not by address, because a mark or an adoption that was committed
 * while we waited for the row has moved it.
 */
export const END = {
  name: 'end',
  text: `
  WITH ${CLOCK},
  item AS (
    SELECT * FROM unnest(
      $2::bigint[], $3::bigint[], $4::int[], $5::smallint[], $6::text[], $7::bigint[],
      $8::int[], $9::bigint[], $10::text[], $11::text[], $12::text[], $13::text[]) WITH ORDINALITY
      AS t (run_id, fence, owner, requested, cause, delay_ms, lost, pos, worker, message, result,
            process, nth)),
  found AS MATERIALIZED (
    SELECT nth, item.run_id, item.fence, item.cause, item.delay_ms, item.pos,
           coalesce(item.worker, (SELECT name FROM session WHERE session.id = held.session)) AS worker,
           item.message, item.result, item.process, held.project_id, held.lane_id, held.rank,
           held.attempt, held.session, held.claim_no, held.started_at, held.gates, held.keyed, now, target,
           CASE target WHEN ${RETRY} THEN item.lost ELSE held.lost END AS lost,
           waits_until, target < ${RETRY} OR waits_until IS NOT NULL AS releases
      FROM item CROSS JOIN clock
     CROSS JOIN LATERAL (
       SELECT * FROM lease
        WHERE lease.run_id = item.run_id AND lease.fence = item.fence
          AND (item.owner IS NULL OR lease.node = item.owner)
          FOR UPDATE) held
     CROSS JOIN LATERAL (
       SELECT CASE WHEN held.cancelling AND item.requested <> ${TARGET.succeeded}
                   THEN ${TARGET.cancelled} ELSE item.requested END) AS f (target)
     CROSS JOIN LATERAL (
       SELECT CASE WHEN target = ${RETRY} AND delay_ms > 0 THEN now + delay_ms
                   -- As waitsUntil says: leased before its time and not started.
                   WHEN target = ${GIVEN_BACK} THEN (
                     SELECT nullif(greatest(now, due_at, CASE
                              WHEN held.started_at <= now + ${MAX_AHEAD_MS} THEN held.started_at END), now)
                       FROM run WHERE run.id = item.run_id AND due_at IS NOT NULL LIMIT 1)
                   END) AS w (waits_until)),
  deleted AS (
    DELETE FROM lease WHERE run_id = ANY (ARRAY(SELECT run_id FROM found))),
  to_end AS (
    INSERT INTO run_end (run_id, project_id, state, cause, attempt, lost, fence,
                         worker, message, result, process, started_at, finished_at)
    SELECT run_id, project_id, target, cause, attempt, lost, fence,
           worker, message, result, process, started_at, now
      FROM found WHERE target < ${RETRY}),
  to_attempt AS (
    INSERT INTO attempt (run_id, fence, attempt, cause, worker, message, process, started_at,
                         finished_at)
    SELECT run_id, fence, attempt, cause, worker, message, process, started_at, now
      FROM found WHERE target = ${RETRY}),
  to_ready AS (
    INSERT INTO ready (lane_id, rank, pos, run_id, attempt, lost, claim_no, avoid)
    SELECT lane_id, rank, CASE target WHEN ${RETRY} THEN pos ELSE run_id END, run_id,
           CASE target WHEN ${RETRY} THEN attempt + 1 ELSE attempt END, lost, claim_no,
           CASE target WHEN ${RETRY} THEN session END
      FROM found WHERE NOT releases),
  to_timer AS (
    INSERT INTO timer (due_at, run_id, lane_id, rank, attempt, lost, claim_no, gated, avoid)
    SELECT waits_until, run_id, lane_id, rank,
           CASE target WHEN ${RETRY} THEN attempt + 1 ELSE attempt END, lost, claim_no,
           gates IS NOT NULL, CASE target WHEN ${RETRY} THEN session END
      FROM found WHERE waits_until IS NOT NULL),
  freed_key AS (
    DELETE FROM dedupe
     WHERE run_id = ANY (ARRAY(SELECT run_id FROM found WHERE keyed AND target < ${RETRY})))
  SELECT clock.now, count(nth)::int AS count,
         CASE WHEN count(nth) < $14::int
              THEN array_agg(nth) FILTER (WHERE nth IS NOT NULL) END AS ended,
         array_agg(DISTINCT lane_id) FILTER (WHERE NOT releases) AS lanes,
         (SELECT array_agg(gate) FROM found CROSS JOIN unnest(found.gates) AS gate WHERE releases) AS gates,
         min(waits_until) AS "nextDueAt",
         CASE WHEN $15::boolean AND bool_or(gates IS NOT NULL AND releases) THEN ${failAssumption(NO_GATES_VIOLATED)}
              WHEN $16::boolean AND ${hasSubscribers('found')} THEN ${failAssumption(NO_WEBHOOKS_VIOLATED)}
              WHEN $17::boolean AND ${hasWaiters('found')} THEN ${failAssumption(NO_WAITERS_VIOLATED)} END
    FROM clock LEFT JOIN found ON true
   GROUP BY clock.now`,
}

const succeedText = (alsoDoes: string, answers: string) => `
  WITH ${CLOCK},
  deleted AS (
    DELETE FROM lease WHERE run_id = ANY ($2::bigint[])
    RETURNING run_id, fence, project_id, attempt, lost, started_at, gates, keyed),
  to_end AS (
    INSERT INTO run_end (run_id, project_id, state, attempt, lost, fence,
                         worker, result, started_at, finished_at)
    SELECT run_id, project_id, ${TARGET.succeeded}, attempt, lost, fence,
           worker, result, started_at, now
      FROM deleted JOIN unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[])
             AS item (run_id, fence, worker, result) USING (run_id, fence)
     CROSS JOIN clock
    RETURNING run_id)${alsoDoes}
  SELECT now, ${answers}
              WHEN (SELECT count(*) FROM to_end) < $6::int THEN ${failAssumption(SIMPLE_SUCCESSES_VIOLATED)}
              WHEN $7::boolean AND ${hasSubscribers('deleted')} THEN ${failAssumption(NO_WEBHOOKS_VIOLATED)}
              WHEN $8::boolean AND ${hasWaiters('deleted')} THEN ${failAssumption(NO_WAITERS_VIOLATED)} END
    FROM clock`

/**
 * The common case of a tick: successes of runs without gates and keys, each with its lease in
 * place. Anything else fails the transaction, and the tick is repeated with fewer assumptions.
 */
export const SUCCEED = {
  name: 'succeed',
  text: succeedText(
    '',
    `CASE WHEN (SELECT bool_or(gates IS NOT NULL) FROM deleted) THEN ${failAssumption(NO_GATES_VIOLATED)}
              WHEN (SELECT bool_or(keyed) FROM deleted) THEN ${failAssumption(NO_KEYS_VIOLATED)}`,
  ),
}

/** Like `SUCCEED`, for runs that hold gates or keys and release them. */
export const SUCCEED_AND_RELEASE = {
  name: 'succeed-and-release',
  text: succeedText(
    `,
  freed_key AS (
    DELETE FROM dedupe WHERE run_id = ANY (ARRAY(SELECT run_id FROM deleted WHERE keyed)))`,
    `(SELECT array_agg(gate) FROM deleted CROSS JOIN unnest(deleted.gates) AS gate) AS gates,
         CASE WHEN $9::boolean AND (SELECT bool_or(gates IS NOT NULL) FROM deleted) THEN ${failAssumption(NO_GATES_VIOLATED)}`,
  ),
}

interface EndedRow {
  readonly now: number
  readonly count: number
  readonly ended: number[] | null
  readonly lanes: number[] | null
  readonly gates: number[] | null
  readonly nextDueAt: number | null
}

/** Assumptions of the caller: meeting a violation fails the whole transaction. */
export interface EndAssumptions {
  /** No run waits for a slot that one of these runs frees. */
  readonly noGates: boolean
  /** No webhook subscribes to these ends. */
  readonly noWebhooks: boolean
  /** No workflow and no other run waits for these runs. */
  readonly noWaiters: boolean
}

/**
 * Commands in ascending order of run id, each attempt once. Throws synchronously when a value
 * cannot be sent, like `insertRuns`.
 */
export function endAttempts(
  tx: Queryable,
  now: number | null,
  commands: readonly EndCommand[],
  { noGates, noWebhooks, noWaiters }: EndAssumptions,
): Promise<EndedAttempts> {
  const values = [now, ...columnsOf(commands), commands.length, noGates, noWebhooks, noWaiters]
  return reportedElsewhere(
    tx.query<EndedRow>(END, values).then(([row]) => ({
      now: row!.now,
      ended: row!.count === commands.length ? null : new Set(row!.ended),
      lanes: row!.lanes ?? [],
      gates: row!.gates ?? [],
      nextDueAt: row!.nextDueAt,
    })),
  )
}

function columnsOf(commands: readonly EndCommand[]): unknown[] {
  return [
    bigints(commands.map((end) => end.runId)),
    bigints(commands.map((end) => end.fence)),
    ints(commands.map((end) => end.owner)),
    smallints(commands.map((end) => TARGET[end.to])),
    texts(commands.map((end) => end.cause)),
    bigints(commands.map((end) => end.delayMs)),
    ints(commands.map((end) => end.lost)),
    bigints(commands.map((end) => end.pos)),
    texts(commands.map((end) => end.worker)),
    texts(commands.map((end) => end.message)),
    texts(commands.map((end) => end.result)),
    texts(commands.map((end) => end.process)),
  ]
}

/**
 * Like `endAttempts`, for commands that are all simple successes; either all have ended, or none.
 * With `mayHold`, the runs may hold gates or keys.
 */
export function succeedAttempts(
  tx: Queryable,
  now: number | null,
  commands: readonly EndCommand[],
  { noGates, noWebhooks, noWaiters, mayHold }: EndAssumptions & { readonly mayHold: boolean },
): Promise<EndedAttempts> {
  const values = [
    now,
    bigints(commands.map((end) => end.runId)),
    bigints(commands.map((end) => end.fence)),
    texts(commands.map((end) => end.worker)),
    texts(commands.map((end) => end.result)),
    commands.length,
    noWebhooks,
    noWaiters,
  ]
  const answer = mayHold
    ? tx.query<SucceededRow>(SUCCEED_AND_RELEASE, [...values, noGates])
    : tx.query<SucceededRow>(SUCCEED, values)
  return reportedElsewhere(
    answer.then(([row]) => ({
      now: row!.now,
      ended: null,
      lanes: [],
      gates: row!.gates ?? [],
      nextDueAt: null,
    })),
  )
}

interface SucceededRow {
  readonly now: number
  readonly gates?: number[] | null
}

interface EndedBefore {
  readonly runId: number
  readonly fence: number
  readonly cause: Cause | null
}

const FIND_ENDED = {
  name: 'find-ended',
  text: `
  SELECT item.run_id AS "runId", item.fence, ended.cause
    FROM unnest($1::bigint[], $2::bigint[]) AS item (run_id, fence)
   CROSS JOIN LATERAL (
     SELECT e.cause FROM run_end e WHERE e.run_id = item.run_id AND e.fence = item.fence
      UNION ALL
     SELECT a.cause FROM attempt a WHERE a.run_id = item.run_id AND a.fence = item.fence
      LIMIT 1) ended`,
}

/** The cause with which this very fence ended each of these attempts; undefined if it did not. */
export async function findEnded(
  tx: Queryable,
  attempts: readonly { runId: number; fence: number }[],
): Promise<(attempt: { runId: number; fence: number }) => Cause | null | undefined> {
  const rows = await tx.query<EndedBefore>(FIND_ENDED, [
    bigints(attempts.map(({ runId }) => runId)),
    bigints(attempts.map(({ fence }) => fence)),
  ])
  const causes = new Map(rows.map(({ runId, fence, cause }) => [`${runId} ${fence}`, cause]))
  return ({ runId, fence }) => causes.get(`${runId} ${fence}`)
}
