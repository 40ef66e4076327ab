import { evaluateNeeds, type NeedsVerdict, type WantedOutcome } from '../../../core/run/needs.ts'
import { type FinalState, STATE_CODE, stateOfCode } from '../../../core/run/run-state.ts'
import type { NewRun, SubmitVerdict } from '../../port.ts'
import { bigints, ints, texts } from '../connection/binary-arrays.ts'
import { CLOCK, reportedElsewhere, type Queryable } from '../connection/statement.ts'
import { RECHECK_MS } from './submit.ts'

/** Existing runs are repeats: their needs were checked before. */
const FIND_UNKNOWN = {
  name: 'find-unknown-needs',
  text: `
  SELECT item.run_id AS "runId", item.needed_id AS "neededId"
    FROM unnest($1::bigint[], $2::int[], $3::bigint[]) WITH ORDINALITY
      AS item (run_id, project_id, needed_id, nth)
    LEFT JOIN LATERAL (
      SELECT id FROM run WHERE run.id = item.needed_id AND run.project_id = item.project_id
       LIMIT 1) needed ON true
    LEFT JOIN LATERAL (SELECT id FROM run WHERE run.id = item.run_id LIMIT 1) repeated ON true
   WHERE needed.id IS NULL AND repeated.id IS NULL
   ORDER BY nth`,
}
/** A repeat of a run that no longer waits adds nothing. */
export const ADD_NEEDS = {
  name: 'add-needs',
  text: `
  INSERT INTO need (run_id, needed_id, wants)
  SELECT item.run_id, item.needed_id, item.wants
    FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS item (run_id, needed_id, wants)
   CROSS JOIN LATERAL (
     SELECT FROM blocked WHERE blocked.run_id = item.run_id AND blocked.gate_id IS NULL LIMIT 1) b
      ON CONFLICT DO NOTHING`,
}
const waitingOnes = (lock: string) => `
  SELECT held.run_id AS "runId" FROM unnest($1::bigint[]) AS item (run_id)
   CROSS JOIN LATERAL (
     SELECT run_id FROM blocked WHERE blocked.run_id = item.run_id AND gate_id IS NULL
        ${lock}) held`
export const LOCK_WAITING = { name: 'lock-waiting', text: waitingOnes('FOR UPDATE') }
export const TRY_WAITING = { name: 'try-waiting', text: waitingOnes('FOR UPDATE SKIP LOCKED') }
export const NEEDS_OF = {
  name: 'needs-of',
  text: `
  SELECT need.run_id AS "waitingId", need.needed_id AS "runId", need.wants,
         there.id IS NOT NULL AS known, ended.state
    FROM need
    LEFT JOIN LATERAL (SELECT id FROM run WHERE run.id = need.needed_id LIMIT 1) there ON true
    LEFT JOIN LATERAL (
      SELECT state FROM run_end WHERE run_end.run_id = need.needed_id LIMIT 1) ended ON true
   WHERE need.run_id = ANY ($1::bigint[])
   ORDER BY need.run_id, need.needed_id + 0, need.wants`,
}
export const RELEASE_FOLLOWERS = {
  name: 'release-waiting',
  text: `
  WITH ${CLOCK},
  freed AS MATERIALIZED (
    SELECT b.*, spec.due_at,
           CASE WHEN spec.due_at > now THEN ${STATE_CODE.scheduled}
                WHEN cardinality(b.gates) > 0 THEN ${STATE_CODE.blocked}
                ELSE ${STATE_CODE.ready} END AS state
      FROM unnest($2::bigint[]) AS item (run_id) CROSS JOIN clock
     CROSS JOIN LATERAL (SELECT * FROM blocked WHERE blocked.run_id = item.run_id LIMIT 1) b
     CROSS JOIN LATERAL (SELECT due_at FROM run WHERE run.id = item.run_id LIMIT 1) spec),
  forgotten AS (DELETE FROM need WHERE run_id = ANY ($2::bigint[])),
  deleted AS (
    DELETE FROM blocked WHERE run_id = ANY (
      ARRAY(SELECT run_id FROM freed WHERE state <> ${STATE_CODE.blocked}))),
  to_gate AS (
    UPDATE blocked SET gate_id = gates[1], recheck_at = now + ${RECHECK_MS} FROM clock
     WHERE run_id = ANY (ARRAY(SELECT run_id FROM freed WHERE state = ${STATE_CODE.blocked}))
    RETURNING gate_id),
  to_ready AS (
    INSERT INTO ready (lane_id, rank, pos, run_id, attempt, lost, claim_no)
    SELECT lane_id, rank, pos, run_id, attempt, lost, claim_no FROM freed
     WHERE state = ${STATE_CODE.ready}),
  to_timer AS (
    INSERT INTO timer (due_at, run_id, lane_id, rank, attempt, lost, claim_no, gated)
    SELECT due_at, run_id, lane_id, rank, attempt, lost, claim_no, cardinality(gates) > 0
      FROM freed WHERE state = ${STATE_CODE.scheduled})
  SELECT array_agg(DISTINCT lane_id) FILTER (WHERE state = ${STATE_CODE.ready}) AS lanes,
         (SELECT array_agg(DISTINCT gate_id) FROM to_gate) AS gates,
         min(due_at) FILTER (WHERE state = ${STATE_CODE.scheduled}) AS "nextDueAt"
    FROM freed`,
}
export const SKIP = {
  name: 'skip-waiting',
  text: `
  WITH ${CLOCK},
  deleted AS (
    DELETE FROM blocked WHERE run_id = ANY ($2::bigint[]) RETURNING run_id, attempt, lost),
  forgotten AS (DELETE FROM need WHERE run_id = ANY ($2::bigint[])),
  freed_key AS (DELETE FROM dedupe WHERE run_id = ANY ($2::bigint[]))
  INSERT INTO run_end (run_id, project_id, state, attempt, lost, message, finished_at)
  SELECT deleted.run_id, spec.project_id, ${STATE_CODE.skipped}, attempt, lost, item.message, now
    FROM deleted JOIN unnest($2::bigint[], $3::text[]) AS item (run_id, message) USING (run_id)
   CROSS JOIN clock
   CROSS JOIN LATERAL (SELECT project_id FROM run WHERE run.id = deleted.run_id LIMIT 1) spec`,
}

/** Runs that are to start after a run that does not exist, and so are refused. */
export async function refuseUnknownNeeds(
  tx: Queryable,
  followers: readonly NewRun[],
): Promise<Map<number, SubmitVerdict>> {
  const pairs = pairsOf(followers)
  const rows = await tx.query<{ runId: number; neededId: number }>(FIND_UNKNOWN, [
    bigints(pairs.map(({ waitingId }) => waitingId)),
    ints(pairs.map(({ projectId }) => projectId)),
    bigints(pairs.map(({ runId }) => runId)),
  ])
  const refused = new Map<number, SubmitVerdict>()
  for (const { runId, neededId } of rows) {
    if (!refused.has(runId)) refused.set(runId, { kind: 'unknown', id: neededId })
  }
  return refused
}

/** Adds the needs of runs that were inserted earlier in the transaction. */
export function addNeeds(tx: Queryable, followers: readonly NewRun[]): void {
  const pairs = pairsOf(followers)
  void reportedElsewhere(
    tx.query(ADD_NEEDS, [
      bigints(pairs.map(({ waitingId }) => waitingId)),
      bigints(pairs.map(({ runId }) => runId)),
      texts(pairs.map(({ wants }) => wants)),
    ]),
  )
}

function pairsOf(followers: readonly NewRun[]) {
  return followers.flatMap(({ id, projectId, after = [] }) =>
    after.map((need) => ({ ...need, projectId, waitingId: id })),
  )
}

export interface NeedsResult {
  readonly lanes: readonly number[]
  /** Gates that runs now wait at. */
  readonly gates: readonly number[]
  readonly nextDueAt: number | null
  readonly skipped: readonly number[]
}

/** Locks those of these runs that wait for others, in ascending order. */
export async function lockWaiting(tx: Queryable, runIds: readonly number[]): Promise<number[]> {
  if (runIds.length === 0) return []
  const rows = await tx.query<{ runId: number }>(LOCK_WAITING, [bigints(runIds)])
  return rows.map(({ runId }) => runId)
}

/** Like `lockWaiting`, but skips runs that another transaction has locked. */
export async function tryWaiting(tx: Queryable, runIds: readonly number[]): Promise<number[]> {
  if (runIds.length === 0) return []
  const rows = await tx.query<{ runId: number }>(TRY_WAITING, [bigints(runIds)])
  return rows.map(({ runId }) => runId)
}

/** Releases or skips locked runs, as their needs say. */
export async function settleWaiting(
  tx: Queryable,
  now: number | null,
  runIds: readonly number[],
): Promise<NeedsResult> {
  if (runIds.length === 0) return { lanes: [], gates: [], nextDueAt: null, skipped: [] }
  const verdicts = await toVerdicts(tx, runIds)
  const released = runIds.filter((runId) => verdicts.get(runId)?.kind === 'released')
  const skipped = runIds.filter((runId) => verdicts.get(runId)?.kind === 'skipped')
  if (skipped.length > 0) {
    const messages = skipped.map((runId) => messageOf(verdicts.get(runId)))
    await tx.query(SKIP, [now, bigints(skipped), texts(messages)])
  }
  if (released.length === 0) return { lanes: [], gates: [], nextDueAt: null, skipped }
  const [row] = await tx.query<{
    lanes: number[] | null
    gates: number[] | null
    nextDueAt: number | null
  }>(RELEASE_FOLLOWERS, [now, bigints(released)])
  const { lanes, gates, nextDueAt } = row!
  return { lanes: lanes ?? [], gates: gates ?? [], nextDueAt, skipped }
}

/** The rows are locked first, so every end that was committed before is seen. */
async function toVerdicts(
  tx: Queryable,
  runIds: readonly number[],
): Promise<Map<number, NeedsVerdict>> {
  interface Row {
    readonly waitingId: number
    readonly runId: number
    readonly wants: WantedOutcome
    readonly known: boolean
    readonly state: number | null
  }
  const rows = await tx.query<Row>(NEEDS_OF, [bigints(runIds)])
  const byRun = Map.groupBy(rows, ({ waitingId }) => waitingId)
  const states = new Map(rows.map(({ runId, known, state }) => [runId, known ? state : undefined]))
  const stateOf = (runId: number) => {
    const state = states.get(runId)
    return typeof state === 'number' ? (stateOfCode(state) as FinalState) : state
  }
  return new Map(runIds.map((runId) => [runId, evaluateNeeds(byRun.get(runId) ?? [], stateOf)]))
}

function messageOf(verdict: NeedsVerdict | undefined): string | null {
  return verdict?.kind === 'skipped' ? verdict.message : null
}
