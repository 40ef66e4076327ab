import { type Cause, STATE_CODE } from '../../../core/run/run-state.ts'
import { MOST_AHEAD_MS } from '../../fire-ahead.ts'
import type { EndCommand } from '../../port.ts'
import { bigints, ints, smallints, texts } from '../connection/binary-arrays.ts'
import { someoneWaits } from '../signals/emit-signals.ts'
import {
  GATE_MET,
  HOOK_MET,
  KEY_MET,
  LEASE_MISSED,
  WAITER_MET,
} from '../connection/store-errors.ts'
import { CLOCK, reportedElsewhere, type Work } from '../connection/statement.ts'

export interface Endings {
  readonly now: number
  /** Which commands found their lease, counted from 1; null when all did. */
  readonly ended: ReadonlySet<number> | null
  /** Lanes that got a run back. */
  readonly lanes: readonly number[]
  /** A gate for each place that was left. */
  readonly gates: readonly number[]
  readonly nextDueAt: number | null
}

const RETRY = 8
const GIVEN_BACK = 9
const GOAL = { ...STATE_CODE, retry: RETRY, given_back: GIVEN_BACK } as const

/** Whether a webhook may want to be told of what ended; where there are none, that costs nothing. */
const someoneWishes = (ended: string) => `
    EXISTS (SELECT FROM outbox_wish) AND EXISTS (
      SELECT FROM outbox_wish WHERE project_id = ANY (ARRAY(SELECT project_id FROM ${ended})))`

/**
 * `fate` is where the run really goes: with a cancel mark, everything but success cancels it.
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
      AS t (run_id, fence, owner, goal, cause, delay_ms, lost, pos, worker, message, result,
            process, nth)),
  found AS MATERIALIZED (
    SELECT nth, item.run_id, item.fence, item.cause, item.delay_ms, item.pos,
           item.worker, item.message, item.result, item.process, held.project_id, held.lane_id, held.rank,
           held.attempt, held.session, held.claim_no, held.started_at, held.gates, held.keyed, now, fate,
           CASE fate WHEN ${RETRY} THEN item.lost ELSE held.lost END AS lost,
           waits_until, fate < ${RETRY} OR waits_until IS NOT NULL AS releases
      FROM item CROSS JOIN clock
     CROSS JOIN LATERAL (
       SELECT * FROM lease
        WHERE lease.run_id = item.run_id AND lease.fence = item.fence
          AND (item.owner IS NULL OR lease.node = item.owner)
          FOR UPDATE) held
     CROSS JOIN LATERAL (
       SELECT CASE WHEN held.cancelling AND item.goal <> ${GOAL.succeeded}
                   THEN ${GOAL.cancelled} ELSE item.goal END) AS f (fate)
     CROSS JOIN LATERAL (
       SELECT CASE WHEN fate = ${RETRY} AND delay_ms > 0 THEN now + delay_ms
                   -- As waitsUntil says: leased before its time and not started.
                   WHEN fate = ${GIVEN_BACK} THEN (
                     SELECT nullif(greatest(now, due_at, CASE
                              WHEN held.started_at <= now + ${MOST_AHEAD_MS} THEN held.started_at END), now)
                       FROM run WHERE run.id = item.run_id AND due_at IS NOT NULL LIMIT 1)
                   END) AS w (waits_until)),
  gone AS (
    DELETE FROM lease WHERE run_id = ANY (ARRAY(SELECT run_id FROM found))),
  to_end AS (
    INSERT INTO run_end (run_id, project_id, state, cause, attempt, lost, fence,
                         worker, message, result, process, started_at, finished_at)
    SELECT run_id, project_id, fate, cause, attempt, lost, fence,
           worker, message, result, process, started_at, now
      FROM found WHERE fate < ${RETRY}),
  to_attempt AS (
    INSERT INTO attempt (run_id, fence, attempt, cause, worker, message, process, started_at,
                         finished_at)
    SELECT run_id, fence, attempt, cause, worker, message, process, started_at, now
      FROM found WHERE fate = ${RETRY}),
  to_ready AS (
    INSERT INTO ready (lane_id, rank, pos, run_id, attempt, lost, claim_no, avoid)
    SELECT lane_id, rank, CASE fate WHEN ${RETRY} THEN pos ELSE run_id END, run_id,
           CASE fate WHEN ${RETRY} THEN attempt + 1 ELSE attempt END, lost, claim_no,
           CASE fate WHEN ${RETRY} THEN session END
      FROM found WHERE NOT releases),
  to_timer AS (
    INSERT INTO timer (due_at, run_id, lane_id, rank, attempt, lost, claim_no, gated, avoid)
    SELECT waits_until, run_id, lane_id, rank,
           CASE fate WHEN ${RETRY} THEN attempt + 1 ELSE attempt END, lost, claim_no,
           gates IS NOT NULL, CASE fate WHEN ${RETRY} THEN session END
      FROM found WHERE waits_until IS NOT NULL),
  freed_key AS (
    DELETE FROM dedupe
     WHERE run_id = ANY (ARRAY(SELECT run_id FROM found WHERE keyed AND fate < ${RETRY})))
  SELECT clock.now, count(nth)::int AS count,
         CASE WHEN count(nth) < $14::int
              THEN array_agg(nth) FILTER (WHERE nth IS NOT NULL) END AS ended,
         array_agg(DISTINCT lane_id) FILTER (WHERE NOT releases) AS lanes,
         (SELECT array_agg(gate) FROM found CROSS JOIN unnest(found.gates) AS gate WHERE releases) AS gates,
         min(waits_until) AS "nextDueAt",
         CASE WHEN $15::boolean AND bool_or(gates IS NOT NULL AND releases) THEN fail_hope('${GATE_MET}')
              WHEN $16::boolean AND ${someoneWishes('found')} THEN fail_hope('${HOOK_MET}')
              WHEN $17::boolean AND ${someoneWaits('found')} THEN fail_hope('${WAITER_MET}') END
    FROM clock LEFT JOIN found ON true
   GROUP BY clock.now`,
}

const succeedText = (alsoDoes: string, answers: string) => `
  WITH ${CLOCK},
  gone AS (
    DELETE FROM lease WHERE run_id = ANY ($2::bigint[])
    RETURNING run_id, fence, project_id, attempt, lost, started_at, gates, keyed),
  to_end AS (
    INSERT INTO run_end (run_id, project_id, state, attempt, lost, fence,
                         worker, result, started_at, finished_at)
    SELECT run_id, project_id, ${GOAL.succeeded}, attempt, lost, fence,
           worker, result, started_at, now
      FROM gone JOIN unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[])
             AS item (run_id, fence, worker, result) USING (run_id, fence)
     CROSS JOIN clock
    RETURNING run_id)${alsoDoes}
  SELECT now, ${answers}
              WHEN (SELECT count(*) FROM to_end) < $6::int THEN fail_hope('${LEASE_MISSED}')
              WHEN $7::boolean AND ${someoneWishes('gone')} THEN fail_hope('${HOOK_MET}')
              WHEN $8::boolean AND ${someoneWaits('gone')} THEN fail_hope('${WAITER_MET}') END
    FROM clock`

/**
 * What nearly every tick ends: successes of runs that hold no gate and no key, each with its lease
 * in place. Anything else fails the transaction, and the tick is done again in a more careful way.
 */
export const SUCCEED = {
  name: 'succeed',
  text: succeedText(
    '',
    `CASE WHEN (SELECT bool_or(gates IS NOT NULL) FROM gone) THEN fail_hope('${GATE_MET}')
              WHEN (SELECT bool_or(keyed) FROM gone) THEN fail_hope('${KEY_MET}')`,
  ),
}

/** The same where runs hold gates or keys, which they give back. */
export const SUCCEED_HOLDING = {
  name: 'succeed-holding',
  text: succeedText(
    `,
  freed_key AS (
    DELETE FROM dedupe WHERE run_id = ANY (ARRAY(SELECT run_id FROM gone WHERE keyed)))`,
    `(SELECT array_agg(gate) FROM gone CROSS JOIN unnest(gone.gates) AS gate) AS gates,
         CASE WHEN $9::boolean AND (SELECT bool_or(gates IS NOT NULL) FROM gone) THEN fail_hope('${GATE_MET}')`,
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

/** What the caller did not stop for: meeting it fails the whole transaction. */
export interface EndHopes {
  /** Nobody waits for a place at a gate that a run frees. */
  readonly noGates: boolean
  /** Nobody wants to be told. */
  readonly noHooks: boolean
  /** No flow and no other run waits for what ends. */
  readonly noWaiters: boolean
}

/**
 * Commands in ascending order of run id, each attempt once. Throws at once when a value cannot be sent, like `insertRuns`.
 */
export function endAttempts(
  work: Work,
  now: number | null,
  commands: readonly EndCommand[],
  { noGates, noHooks, noWaiters }: EndHopes,
): Promise<Endings> {
  const values = [now, ...columnsOf(commands), commands.length, noGates, noHooks, noWaiters]
  return reportedElsewhere(
    work.query<EndedRow>(END, values).then(([row]) => ({
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
    smallints(commands.map((end) => GOAL[end.to])),
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
 * As `endAttempts`, for commands that are all plain successes; each has ended, or none. With
 * `mayHold`, they may be of runs that hold something.
 */
export function succeedAttempts(
  work: Work,
  now: number | null,
  commands: readonly EndCommand[],
  { noGates, noHooks, noWaiters, mayHold }: EndHopes & { readonly mayHold: boolean },
): Promise<Endings> {
  const values = [
    now,
    bigints(commands.map((end) => end.runId)),
    bigints(commands.map((end) => end.fence)),
    texts(commands.map((end) => end.worker)),
    texts(commands.map((end) => end.result)),
    commands.length,
    noHooks,
    noWaiters,
  ]
  const answer = mayHold
    ? work.query<SucceededRow>(SUCCEED_HOLDING, [...values, noGates])
    : work.query<SucceededRow>(SUCCEED, values)
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

/** The cause with which that very fence ended each of these attempts; undefined if it did not. */
export async function findEnded(
  work: Work,
  held: readonly { runId: number; fence: number }[],
): Promise<(held: { runId: number; fence: number }) => Cause | null | undefined> {
  const rows = await work.query<EndedBefore>(FIND_ENDED, [
    bigints(held.map(({ runId }) => runId)),
    bigints(held.map(({ fence }) => fence)),
  ])
  const causes = new Map(rows.map(({ runId, fence, cause }) => [`${runId} ${fence}`, cause]))
  return ({ runId, fence }) => causes.get(`${runId} ${fence}`)
}
