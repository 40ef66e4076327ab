import { isPlainRun, startsAfter } from '../../plain-runs.ts'
import type { NewRun, SubmitVerdict } from '../../port.ts'
import { bigints, booleans, ints, smallints, texts } from '../connection/binary-arrays.ts'
import { type Entrance, NO_ENTRANCE } from '../gates/admission.ts'
import { CLOCK, reportedElsewhere, type Work } from '../connection/statement.ts'

export interface Submission {
  readonly now: number
  /** Ids that were inserted; null when all of them were. */
  readonly inserted: ReadonlySet<number> | null
  readonly nextDueAt: number | null
}

/** How long a blocked run may wait before a sweep looks whether it was forgotten. */
export const RECHECK_MS = 30_000
/** The same for one that starts after others: its submission may have missed their ends. */
const NEEDS_RECHECK_MS = 1_000

/**
 * Hot rows exist only for runs that were inserted, so a repeat changes nothing. The join of `fresh`
 * with `item` is between two lists in memory: no statistics can turn it into anything else.
 * State codes are those of core/run-state.ts.
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

/** Fails when an id is there already. Most batches repeat nothing, and pay a tenth less this way. */
export const SUBMIT = { name: 'submit', text: submitText('') }
export const SUBMIT_AGAIN = { name: 'submit-again', text: submitText('ON CONFLICT DO NOTHING') }

/** For runs that ask for nothing special, which most do: half the columns and two places to go. */
export const SUBMIT_PLAIN = {
  name: 'submit-plain',
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
 * Runs in ascending order of id, each id once. With `hopeful`, an id that is there already fails the
 * whole transaction; without, it is left out of `inserted`. Throws at once, and not through its promise, when a
 * value cannot be sent: the caller may not look at the promise before it commits.
 */
export function insertRuns(
  work: Work,
  now: number | null,
  node: number,
  runs: readonly NewRun[],
  { hopeful, entrance = NO_ENTRANCE }: { hopeful: boolean; entrance?: Entrance },
): Promise<Submission> {
  if (hopeful && runs.every(isPlainRun)) return insertPlain(work, now, node, runs)
  const statement = hopeful ? SUBMIT : SUBMIT_AGAIN
  const values = [now, node, ...columnsOf(runs), runs.length, ...columnsAt(entrance, runs)]
  const answer = work.query<SubmittedRow>(statement, values)
  return reportedElsewhere(
    answer.then(([row]) => ({
      now: row!.now,
      inserted: row!.count === runs.length ? null : new Set(row!.inserted),
      nextDueAt: row!.nextDueAt,
    })),
  )
}

function insertPlain(
  work: Work,
  now: number | null,
  node: number,
  runs: readonly NewRun[],
): Promise<Submission> {
  const answer = work.query<{ now: number }>(SUBMIT_PLAIN, [
    now,
    node,
    bigints(runs.map((run) => run.id)),
    ints(runs.map((run) => run.projectId)),
    ints(runs.map((run) => run.jobId)),
    ints(runs.map((run) => run.laneId)),
    smallints(runs.map((run) => run.rank)),
    bigints(runs.map((run) => run.timeoutMs)),
    texts(runs.map((run) => run.policy)),
    texts(runs.map((run) => run.input)),
    bigints(runs.map((run) => run.handOff?.session ?? null)),
    bigints(runs.map((run) => run.handOff?.fence ?? null)),
    ints(runs.map((run) => run.version)),
    ints(runs.map((run) => run.createdBy)),
  ])
  return reportedElsewhere(
    answer.then(([row]) => ({ now: row!.now, inserted: null, nextDueAt: null })),
  )
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
    texts(runs.map((run) => (run.gates.length === 0 ? null : `{${run.gates.join()}}`))),
    texts(runs.map((run) => run.dedupeKey)),
    texts(runs.map((run) => run.policy)),
    texts(runs.map((run) => run.tags)),
    texts(runs.map((run) => run.input)),
    bigints(runs.map((run) => run.handOff?.session ?? null)),
    bigints(runs.map((run) => run.handOff?.fence ?? null)),
    ints(runs.map((run) => run.version)),
    ints(runs.map((run) => run.createdBy)),
    texts(runs.map((run) => run.work)),
  ]
}

function columnsAt({ passes, waitsAt }: Entrance, runs: readonly NewRun[]): unknown[] {
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

/** Whose runs these ids are: a repeat of our own is success, somebody else's is a collision. */
export async function readMinters(
  work: Work,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await work.query<{ id: number; node: number }>(READ_MINTERS, [bigints(ids)])
  return new Map(rows.map(({ id, node }) => [id, node]))
}

export function verdictOnKnown(minter: number | undefined, node: number): SubmitVerdict {
  return { kind: minter === node ? 'exists' : 'collision' }
}
