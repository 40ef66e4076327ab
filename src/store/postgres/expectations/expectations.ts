import {
  VIOLATION_CODE,
  VIOLATION_KINDS,
  violationKindOfCode,
} from '../../../core/expectation/violation.ts'
import { VIOLATION_EVENT_BIT } from '../../../core/webhook/webhook.ts'
import type {
  ExpectationRecord,
  ViolationRecord,
  ExpectationStore,
  CheckedExpectation,
} from '../../port.ts'
import type { NewExpectation } from '../../port.ts'
import { bigints, ints, smallints, texts } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { CLOCK, type Queryable } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'

const COLUMNS = `run_id AS "runId", version, look_at AS "checkAt", terms`
const NEXT = {
  name: 'next-expectation',
  text: `SELECT look_at AS "checkAt" FROM expectation ORDER BY look_at LIMIT 1`,
}
const DUE = {
  name: 'due-expectations',
  text: `SELECT ${COLUMNS} FROM expectation WHERE look_at <= $1::bigint
          ORDER BY look_at LIMIT $2::int`,
}
const OF_RUNS = {
  name: 'expectations-of',
  text: `SELECT ${COLUMNS} FROM expectation WHERE run_id = ANY ($1::bigint[])`,
}
const VIOLATIONS_OF = {
  name: 'violations-of',
  text: `SELECT run_id AS "runId", kind, due_at AS "dueAt", at FROM lapse
          WHERE run_id = ANY ($1::bigint[]) ORDER BY due_at, run_id, kind`,
}
const ADD = {
  name: 'add-expectations',
  text: `
  INSERT INTO expectation (version, run_id, project_id, job_id, look_at, terms)
  SELECT 1, * FROM unnest($1::bigint[], $2::int[], $3::int[], $4::bigint[], $5::text[])`,
}

const BIT_OF_CODE = VIOLATION_KINDS.map(
  (kind) => `WHEN ${VIOLATION_CODE[kind]} THEN ${VIOLATION_EVENT_BIT[kind]}`,
)
/**
 * Never waits: another node is settling a locked row, with its own check. The webhook subscriptions
 * are read here, as when a run ends.
 */
const SETTLE = {
  name: 'settle-expectations',
  text: `
  WITH ${CLOCK},
  held AS MATERIALIZED (
    SELECT e.run_id, e.project_id, e.job_id, item.look_at, item.terms
      FROM unnest($2::bigint[], $3::int[], $4::bigint[], $5::text[])
             AS item (run_id, version, look_at, terms)
     CROSS JOIN LATERAL (
       SELECT * FROM expectation
        WHERE expectation.run_id = item.run_id AND expectation.version = item.version
          FOR UPDATE SKIP LOCKED) e),
  ended AS (
    DELETE FROM expectation
     WHERE run_id = ANY (ARRAY(SELECT run_id FROM held WHERE look_at IS NULL))),
  moved AS (
    UPDATE expectation e SET version = version + 1, look_at = held.look_at, terms = held.terms
      FROM held WHERE e.run_id = held.run_id AND held.look_at IS NOT NULL),
  violated AS (
    INSERT INTO lapse (run_id, kind, due_at, at)
    SELECT item.run_id, item.kind, item.due_at, now
      FROM unnest($6::bigint[], $7::smallint[], $8::bigint[]) AS item (run_id, kind, due_at)
      JOIN held USING (run_id) CROSS JOIN clock
     ORDER BY item.run_id, item.kind
        ON CONFLICT (run_id, kind) DO NOTHING
    RETURNING run_id, kind),
  reported AS (
    SELECT violated.run_id, held.project_id, held.job_id,
           CASE kind ${BIT_OF_CODE.join(' ')} END AS event
      FROM violated JOIN held USING (run_id)),
  to_outbox AS (
    INSERT INTO outbox (run_id, project_id, job_id, events, at)
    SELECT reported.run_id, reported.project_id, reported.job_id, reported.event, now
      FROM reported JOIN outbox_wish wish USING (project_id) CROSS JOIN clock
     WHERE wish.events & reported.event <> 0
     ORDER BY reported.run_id, reported.event)
  SELECT run_id AS "runId" FROM held`,
}

/** Runs in the transaction that creates the runs. */
export async function addExpectations(
  tx: Queryable,
  expected: readonly NewExpectation[],
): Promise<void> {
  if (expected.length === 0) return
  await tx.query(ADD, [
    bigints(expected.map(({ run }) => run.id)),
    ints(expected.map(({ run }) => run.projectId)),
    ints(expected.map(({ run }) => run.jobId)),
    bigints(expected.map(({ checkAt }) => checkAt)),
    texts(expected.map(({ terms }) => terms)),
  ])
}

export async function nextExpectationAt(db: Database): Promise<number | null> {
  const [row] = await read<{ checkAt: number }>(db.duty, NEXT)
  return row?.checkAt ?? null
}

export async function dueExpectations(
  db: Database,
  { until, limit }: Parameters<ExpectationStore['dueExpectations']>[0],
): Promise<ExpectationRecord[]> {
  return read<ExpectationRecord>(db.duty, DUE, [until, limit])
}

export async function expectationsOf(
  db: Database,
  runIds: readonly number[],
): Promise<ExpectationRecord[]> {
  return read<ExpectationRecord>(db.duty, OF_RUNS, [bigints(runIds)])
}

export async function violationsOf(
  db: Database,
  runIds: readonly number[],
): Promise<ViolationRecord[]> {
  const rows = await read<Omit<ViolationRecord, 'kind'> & { kind: number }>(
    db.reading,
    VIOLATIONS_OF,
    [bigints(runIds)],
  )
  return rows.map((row) => ({ ...row, kind: violationKindOfCode(row.kind) }))
}

export async function settleExpectations(
  db: Database,
  seen: readonly CheckedExpectation[],
): Promise<number[]> {
  const inOrder = seen.toSorted((a, b) => a.runId - b.runId)
  const violations = inOrder.flatMap(({ runId, violations: found }) =>
    found.map((violation) => ({ runId, ...violation })),
  )
  const values = [
    db.now(),
    bigints(inOrder.map(({ runId }) => runId)),
    ints(inOrder.map(({ version }) => version)),
    bigints(inOrder.map(({ remaining }) => remaining?.checkAt ?? null)),
    texts(inOrder.map(({ remaining }) => remaining?.terms ?? null)),
    bigints(violations.map(({ runId }) => runId)),
    smallints(violations.map(({ kind }) => VIOLATION_CODE[kind])),
    bigints(violations.map(({ dueAt }) => dueAt)),
  ]
  const rows = await transact(
    db.duty,
    (tx) => tx.query<{ runId: number }>(SETTLE, values),
    'single',
  )
  return rows.map(({ runId }) => runId)
}
