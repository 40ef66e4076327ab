import { hasNoOptions, startsAfter } from '../../run-options.ts'
import type { NewRun, SubmitVerdict } from '../../port.ts'
import { bigints, booleans, ints, texts } from '../connection/binary-arrays.ts'
import { type GateAdmission, NO_GATE_ADMISSION } from '../gates/admit-new-runs.ts'
import { addTags } from '../runs/run-tags.ts'
import {
  BASE_COLUMNS,
  baseValuesOf,
  type InputColumn,
  insertBlockedRows,
  insertLeaseRows,
  insertReadyRows,
  insertSpecs,
  unnestFrom,
} from './new-run-rows.ts'
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

/** The columns of a run with any options, in the order of `valuesOf`. */
const OPTION_COLUMNS: readonly InputColumn[] = [
  ['due_at', 'bigint'],
  ['retry_of', 'bigint'],
  ['gates', 'text'],
  ['dedupe_key', 'text'],
  ['tags', 'text'],
  ['session', 'bigint'],
  ['fence', 'bigint'],
  ['work', 'text'],
]
/** The decisions about a run, in the order of `decisionsOn`. */
const DECISION_COLUMNS: readonly InputColumn[] = [
  ['passes', 'boolean'],
  ['waits_at', 'int'],
  ['follows', 'boolean'],
]
const SUBMIT_COLUMNS = [...BASE_COLUMNS, ...OPTION_COLUMNS, ...DECISION_COLUMNS]
/** The parameter after the columns: the number of runs. */
const COUNT = 3 + SUBMIT_COLUMNS.length

/**
 * Hot rows exist only for runs that were inserted, so a repeat changes nothing. The join of `fresh`
 * with `item` is between two lists in memory: no statistics can make another plan of it. State
 * codes are those of core/run-state.ts.
 */
const submitText = (onConflict: string) => `
  WITH ${CLOCK},
  item AS MATERIALIZED (SELECT * FROM ${unnestFrom(3, SUBMIT_COLUMNS)}),
  fresh AS (${insertSpecs(`item CROSS JOIN clock ${onConflict}`, {
    due_at: 'due_at',
    retry_of: 'retry_of',
    gates: 'gates::int[]',
    dedupe_key: 'dedupe_key',
    tags: 'tags',
    work: 'work',
  })}
    RETURNING id, project_id, lane_id, rank, due_at, gates, dedupe_key IS NOT NULL AS keyed),
  placed AS MATERIALIZED (
    SELECT fresh.*, session, fence, now, waits_at, follows,
           CASE WHEN follows THEN 3
                WHEN fresh.due_at > now AND passes IS NOT TRUE THEN 2
                WHEN fresh.gates IS NOT NULL AND passes IS NOT TRUE THEN 3
                WHEN session IS NOT NULL THEN 1
                ELSE 0 END AS state
      FROM fresh JOIN item USING (id) CROSS JOIN clock),
  to_ready AS (${insertReadyRows('placed WHERE state = 0')}),
  to_lease AS (${insertLeaseRows('placed WHERE state = 1', { gates: 'gates', keyed: 'keyed' })}),
  to_timer AS (
    INSERT INTO timer (due_at, run_id, lane_id, rank, attempt, lost, claim_no, gated)
    SELECT due_at, id, lane_id, rank, 1, 0, 0, gates IS NOT NULL FROM placed WHERE state = 2),
  to_blocked AS (${insertBlockedRows('placed WHERE state = 3', {
    gateId: 'CASE WHEN follows THEN NULL ELSE coalesce(waits_at, gates[1]) END',
    gates: `coalesce(gates, '{}')`,
    recheckMs: `CASE WHEN follows THEN ${NEEDS_RECHECK_MS} ELSE ${RECHECK_MS} END`,
  })})
  SELECT clock.now,
         CASE WHEN count(id) < $${COUNT}::int
              THEN array_agg(id) FILTER (WHERE id IS NOT NULL) END AS inserted,
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
    SELECT * FROM ${unnestFrom(3, [...BASE_COLUMNS, ['session', 'bigint'], ['fence', 'bigint']])}),
  fresh AS (${insertSpecs('item CROSS JOIN clock')}),
  to_ready AS (${insertReadyRows('item WHERE session IS NULL')}),
  to_lease AS (${insertLeaseRows('item CROSS JOIN clock WHERE session IS NOT NULL', {
    gates: 'NULL::int[]',
    keyed: 'false',
  })})
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
  const values = [now, node, ...valuesOf(runs), ...decisionsOn(runs, admission), runs.length]
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
    ...baseValuesOf(runs),
    bigints(runs.map((run) => run.reservation?.session ?? null)),
    bigints(runs.map((run) => run.reservation?.fence ?? null)),
  ])
  return reportedElsewhere(
    answer.then(([row]) => ({ now: row!.now, inserted: null, nextDueAt: null })),
  )
}

function valuesOf(runs: readonly NewRun[]): unknown[] {
  const values = baseValuesOf(runs)
  values.push(
    bigints(runs.map((run) => run.dueAt)),
    bigints(runs.map((run) => run.retryOf)),
    texts(runs.map(storedGates)),
    texts(runs.map((run) => run.dedupeKey)),
    texts(runs.map((run) => run.tags)),
    bigints(runs.map((run) => run.reservation?.session ?? null)),
    bigints(runs.map((run) => run.reservation?.fence ?? null)),
    texts(runs.map((run) => run.work)),
  )
  return values
}

export function storedGates({ gates }: NewRun): string | null {
  return gates.length === 0 ? null : `{${gates.join()}}`
}

function decisionsOn(runs: readonly NewRun[], { passes, waitsAt }: GateAdmission): unknown[] {
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
