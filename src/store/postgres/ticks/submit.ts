import { hasNoOptions, startsAfter } from '../../run-options.ts'
import type { NewRun, SubmitVerdict } from '../../port.ts'
import { bigints, booleans, ints, smallints, texts } from '../connection/binary-arrays.ts'
import { type GateAdmission, NO_GATE_ADMISSION } from '../gates/admit-new-runs.ts'
import { addTags } from '../runs/run-tags.ts'
import { CLOCK, reportedElsewhere, type Queryable } from '../connection/statement.ts'

export interface InsertResult {
  readonly now: number
  /** Ids that were inserted; null when all of them were. */
  readonly inserted: ReadonlySet<number> | null
  readonly nextDueAt: number | null
}

/** How long a blocked run may wait before a sweep rechecks it. */
export const RECHECK_MS = 30_000
/** Like `RECHECK_MS`, for a run that starts after others: its submission may have missed their ends. */
const NEEDS_RECHECK_MS = 1_000

/**
 * Hot rows exist only for runs that were inserted, so a repeat changes nothing. The join of `fresh`
 * with `item` is between two lists in memory: no statistics can make another plan of it. State
 * codes are those of core/run-state.ts.
 */
const submitText = (onConflict: string) => `
  WITH ${CLOCK},
  item AS MATERIALIZED (
    SELECT * FROM unnest(
      $3::bigint[], $4::int[], $5::int[], $6::int[], $7::smallint[], $8::bigint[], $9::bigint[],
      $10::bigint[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[],
      $16::bigint[], $17::bigint[], $18::int[], $19::int[], $20::text[], $22::boolean[], $23::int[],
      $24::boolean[])
      AS t (id, project_id, job_id, lane_id, rank, due_at, timeout_ms, retry_of, gates, dedupe_key,
            policy, tags, input, session, fence, version, created_by, work, passes, waits_at,
            follows)),
  fresh AS (
    INSERT INTO run (id, created_at, due_at, timeout_ms, retry_of, project_id, job_id, lane_id,
                     minted_by, rank, gates, dedupe_key, policy, tags, input,
                     version, created_by, work)
    SELECT id, now, due_at, timeout_ms, retry_of, project_id, job_id, lane_id,
           $2::int, rank, gates::int[], dedupe_key, policy, tags, input, version, created_by, work
      FROM item CROSS JOIN clock ${onConflict}
    RETURNING id, project_id, lane_id, rank, due_at, gates, dedupe_key IS NOT NULL AS keyed),
  placed AS MATERIALIZED (
    SELECT fresh.*, session, fence, now, waits_at, follows,
           CASE WHEN follows THEN 3
                WHEN fresh.due_at > now AND passes IS NOT TRUE THEN 2
                WHEN fresh.gates IS NOT NULL AND passes IS NOT TRUE THEN 3
                WHEN session IS NOT NULL THEN 1
                ELSE 0 END AS state
      FROM fresh JOIN item USING (id) CROSS JOIN clock),
  to_ready AS (
    INSERT INTO ready (lane_id, rank, pos, run_id, attempt, lost, claim_no)
    SELECT lane_id, rank, id, id, 1, 0, 0 FROM placed WHERE state = 0),
  to_lease AS (
    INSERT INTO lease (run_id, fence, node, session, project_id, lane_id, rank, pos,
                       attempt, lost, claim_no, started_at, gates, keyed)
    SELECT id, fence, $2::int, session, project_id, lane_id, rank, id, 1, 0, 1, now, gates, keyed
      FROM placed WHERE state = 1),
  to_timer AS (
    INSERT INTO timer (due_at, run_id, lane_id, rank, attempt, lost, claim_no, gated)
    SELECT due_at, id, lane_id, rank, 1, 0, 0, gates IS NOT NULL FROM placed WHERE state = 2),
  to_blocked AS (
    INSERT INTO blocked (run_id, gate_id, gates, lane_id, rank, pos, attempt, lost, claim_no, recheck_at)
    SELECT id, CASE WHEN follows THEN NULL ELSE coalesce(waits_at, gates[1]) END,
           coalesce(gates, '{}'), lane_id, rank, id, 1, 0, 0,
           now + CASE WHEN follows THEN ${NEEDS_RECHECK_MS} ELSE ${RECHECK_MS} END
      FROM placed WHERE state = 3)
  SELECT clock.now,
         CASE WHEN count(id) < $21::int THEN array_agg(id) FILTER (WHERE id IS NOT NULL) END AS inserted,
         count(id)::int AS count,
         min(due_at) FILTER (WHERE state = 2) AS "nextDueAt"
    FROM clock LEFT JOIN placed ON true
   GROUP BY clock.now`

/** Fails when an id exists already. Most batches repeat nothing, and cost a tenth less this way. */
export const SUBMIT = { name: 'submit', text: submitText('') }
export const SUBMIT_AGAIN = { name: 'submit-again', text: submitText('ON CONFLICT DO NOTHING') }

/** For runs without options, which most are: half the columns and two target tables. */
export const SUBMIT_WITHOUT_OPTIONS = {
  name: 'submit-without-options',
  text: `
  WITH ${CLOCK},
  item AS MATERIALIZED (
    SELECT * FROM unnest(
      $3::bigint[], $4::int[], $5::int[], $6::int[], $7::smallint[], $8::bigint[],
      $9::text[], $10::text[], $11::bigint[], $12::bigint[], $13::int[], $14::int[])
      AS t (id, project_id, job_id, lane_id, rank, timeout_ms, policy, input, session, fence,
            version, created_by)),
  fresh AS (
    INSERT INTO run (id, created_at, timeout_ms, project_id, job_id, lane_id,
                     minted_by, rank, policy, input, version, created_by)
    SELECT id, now, timeout_ms, project_id, job_id, lane_id,
           $2::int, rank, policy, input, version, created_by
      FROM item CROSS JOIN clock),
  to_ready AS (
    INSERT INTO ready (lane_id, rank, pos, run_id, attempt, lost, claim_no)
    SELECT lane_id, rank, id, id, 1, 0, 0 FROM item WHERE session IS NULL),
  to_lease AS (
    INSERT INTO lease (run_id, fence, node, session, project_id, lane_id, rank, pos,
                       attempt, lost, claim_no, started_at, keyed)
    SELECT id, fence, $2::int, session, project_id, lane_id, rank, id, 1, 0, 1, now, false
      FROM item CROSS JOIN clock WHERE session IS NOT NULL)
  SELECT now FROM clock`,
}

interface SubmittedRow {
  readonly now: number
  readonly count: number
  readonly inserted: number[] | null
  readonly nextDueAt: number | null
}

/**
 * Runs in ascending order of id, each id once. With `assumeNew`, an existing id fails the whole
 * transaction; without, it is left out of `inserted`. Throws synchronously, and not through its
 * promise, when a value cannot be sent: the caller may not await the promise before it commits.
 */
export function insertRuns(
  tx: Queryable,
  now: number | null,
  node: number,
  runs: readonly NewRun[],
  { assumeNew, admission = NO_GATE_ADMISSION }: { assumeNew: boolean; admission?: GateAdmission },
): Promise<InsertResult> {
  if (assumeNew && runs.every(hasNoOptions)) return insertWithoutOptions(tx, now, node, runs)
  const statement = assumeNew ? SUBMIT : SUBMIT_AGAIN
  const values = [now, node, ...columnsOf(runs), runs.length, ...columnsAt(admission, runs)]
  const answer = tx.query<SubmittedRow>(statement, values)
  addTags(tx, node, runs)
  return reportedElsewhere(
    answer.then(([row]) => ({
      now: row!.now,
      inserted: row!.count === runs.length ? null : new Set(row!.inserted),
      nextDueAt: row!.nextDueAt,
    })),
  )
}

function insertWithoutOptions(
  tx: Queryable,
  now: number | null,
  node: number,
  runs: readonly NewRun[],
): Promise<InsertResult> {
  const answer = tx.query<{ now: number }>(SUBMIT_WITHOUT_OPTIONS, [
    now,
    node,
    ...baseColumnsOf(runs),
    bigints(runs.map((run) => run.reservation?.session ?? null)),
    bigints(runs.map((run) => run.reservation?.fence ?? null)),
    ints(runs.map((run) => run.version)),
    ints(runs.map((run) => run.createdBy)),
  ])
  return reportedElsewhere(
    answer.then(([row]) => ({ now: row!.now, inserted: null, nextDueAt: null })),
  )
}

/** The columns of a run without options, in the order of the statements for such runs. */
export function baseColumnsOf(runs: readonly NewRun[]): unknown[] {
  return [
    bigints(runs.map((run) => run.id)),
    ints(runs.map((run) => run.projectId)),
    ints(runs.map((run) => run.jobId)),
    ints(runs.map((run) => run.laneId)),
    smallints(runs.map((run) => run.rank)),
    bigints(runs.map((run) => run.timeoutMs)),
    texts(runs.map((run) => run.policy)),
    texts(runs.map((run) => run.input)),
  ]
}

function columnsOf(runs: readonly NewRun[]): unknown[] {
  return [
    bigints(runs.map((run) => run.id)),
    ints(runs.map((run) => run.projectId)),
    ints(runs.map((run) => run.jobId)),
    ints(runs.map((run) => run.laneId)),
    smallints(runs.map((run) => run.rank)),
    bigints(runs.map((run) => run.dueAt)),
    bigints(runs.map((run) => run.timeoutMs)),
    bigints(runs.map((run) => run.retryOf)),
    texts(runs.map(storedGates)),
    texts(runs.map((run) => run.dedupeKey)),
    texts(runs.map((run) => run.policy)),
    texts(runs.map((run) => run.tags)),
    texts(runs.map((run) => run.input)),
    bigints(runs.map((run) => run.reservation?.session ?? null)),
    bigints(runs.map((run) => run.reservation?.fence ?? null)),
    ints(runs.map((run) => run.version)),
    ints(runs.map((run) => run.createdBy)),
    texts(runs.map((run) => run.work)),
  ]
}

export function storedGates({ gates }: NewRun): string | null {
  return gates.length === 0 ? null : `{${gates.join()}}`
}

function columnsAt({ passes, waitsAt }: GateAdmission, runs: readonly NewRun[]): unknown[] {
  return [
    booleans(runs.map(({ id }) => passes.has(id) || null)),
    ints(runs.map(({ id }) => waitsAt.get(id) ?? null)),
    booleans(runs.map((run) => startsAfter(run) || null)),
  ]
}

const READ_MINTERS = {
  name: 'read-minters',
  text: `
  SELECT run.id, run.minted_by AS node
    FROM unnest($1::bigint[]) AS item (id)
   CROSS JOIN LATERAL (SELECT id, minted_by FROM run WHERE run.id = item.id LIMIT 1) run`,
}

/**
 * Which node minted these ids: a repeat of our own run is success, another node's run is a
 * collision.
 */
export async function readMinters(
  tx: Queryable,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await tx.query<{ id: number; node: number }>(READ_MINTERS, [bigints(ids)])
  return new Map(rows.map(({ id, node }) => [id, node]))
}

export function verdictOnKnown(minter: number | undefined, node: number): SubmitVerdict {
  return { kind: minter === node ? 'exists' : 'collision' }
}
