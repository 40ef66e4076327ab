import { LAPSE_CODE, LAPSES, lapseOfCode } from '../../../core/expectation/violation.ts'
import { BIT_OF_LAPSE } from '../../../core/webhook/webhook.ts'
import type { ExpectationRecord, LapseRecord, LapseStore, SeenExpectation } from '../../port.ts'
import type { NewExpectation } from '../../settle-schedule.ts'
import { bigints, ints, smallints, texts } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { CLOCK, type Work } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'

const COLUMNS = `run_id AS "runId", version, look_at AS "lookAt", terms`
const NEXT = {
  name: 'next-expectation',
  text: `SELECT look_at AS "lookAt" FROM expectation ORDER BY look_at LIMIT 1`,
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
const LAPSES_OF = {
  name: 'lapses-of',
  text: `SELECT run_id AS "runId", kind, due_at AS "dueAt", at FROM lapse
          WHERE run_id = ANY ($1::bigint[]) ORDER BY due_at, run_id, kind`,
}
const ADD = {
  name: 'add-expectations',
  text: `
  INSERT INTO expectation (version, run_id, project_id, job_id, look_at, terms)
  SELECT 1, * FROM unnest($1::bigint[], $2::int[], $3::int[], $4::bigint[], $5::text[])`,
}

const BIT_OF_CODE = LAPSES.map((kind) => `WHEN ${LAPSE_CODE[kind]} THEN ${BIT_OF_LAPSE[kind]}`)
/**
 * Nobody waits: a row that is locked is being settled by somebody else, with what they have seen. What
 * webhooks ask for is looked up here, as it is when a run ends.
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
  lapsed AS (
    INSERT INTO lapse (run_id, kind, due_at, at)
    SELECT item.run_id, item.kind, item.due_at, now
      FROM unnest($6::bigint[], $7::smallint[], $8::bigint[]) AS item (run_id, kind, due_at)
      JOIN held USING (run_id) CROSS JOIN clock
     ORDER BY item.run_id, item.kind
        ON CONFLICT (run_id, kind) DO NOTHING
    RETURNING run_id, kind),
  told AS (
    SELECT lapsed.run_id, held.project_id, held.job_id,
           CASE kind ${BIT_OF_CODE.join(' ')} END AS event
      FROM lapsed JOIN held USING (run_id)),
  to_outbox AS (
    INSERT INTO outbox (run_id, project_id, job_id, events, at)
    SELECT told.run_id, told.project_id, told.job_id, told.event, now
      FROM told JOIN outbox_wish wish USING (project_id) CROSS JOIN clock
     WHERE wish.events & told.event <> 0
     ORDER BY told.run_id, told.event)
  SELECT run_id AS "runId" FROM held`,
}

/** In the transaction that makes their runs. */
export async function addExpectations(
  work: Work,
  expected: readonly NewExpectation[],
): Promise<void> {
  if (expected.length === 0) return
  await work.query(ADD, [
    bigints(expected.map(({ run }) => run.id)),
    ints(expected.map(({ run }) => run.projectId)),
    ints(expected.map(({ run }) => run.jobId)),
    bigints(expected.map(({ lookAt }) => lookAt)),
    texts(expected.map(({ terms }) => terms)),
  ])
}

export async function nextExpectationAt(db: Database): Promise<number | null> {
  const [row] = await read<{ lookAt: number }>(db.duty, NEXT)
  return row?.lookAt ?? null
}

export async function dueExpectations(
  db: Database,
  { until, limit }: Parameters<LapseStore['dueExpectations']>[0],
): Promise<ExpectationRecord[]> {
  return read<ExpectationRecord>(db.duty, DUE, [until, limit])
}

export async function expectationsOf(
  db: Database,
  runIds: readonly number[],
): Promise<ExpectationRecord[]> {
  return read<ExpectationRecord>(db.duty, OF_RUNS, [bigints(runIds)])
}

export async function lapsesOf(db: Database, runIds: readonly number[]): Promise<LapseRecord[]> {
  const rows = await read<Omit<LapseRecord, 'kind'> & { kind: number }>(db.reading, LAPSES_OF, [
    bigints(runIds),
  ])
  return rows.map((row) => ({ ...row, kind: lapseOfCode(row.kind) }))
}

export async function settleExpectations(
  db: Database,
  seen: readonly SeenExpectation[],
): Promise<number[]> {
  const inOrder = seen.toSorted((a, b) => a.runId - b.runId)
  const lapses = inOrder.flatMap(({ runId, lapses: found }) =>
    found.map((lapse) => ({ runId, ...lapse })),
  )
  const values = [
    db.now(),
    bigints(inOrder.map(({ runId }) => runId)),
    ints(inOrder.map(({ version }) => version)),
    bigints(inOrder.map(({ left }) => left?.lookAt ?? null)),
    texts(inOrder.map(({ left }) => left?.terms ?? null)),
    bigints(lapses.map(({ runId }) => runId)),
    smallints(lapses.map(({ kind }) => LAPSE_CODE[kind])),
    bigints(lapses.map(({ dueAt }) => dueAt)),
  ]
  const rows = await transact(
    db.duty,
    (work) => work.query<{ runId: number }>(SETTLE, values),
    'single',
  )
  return rows.map(({ runId }) => runId)
}
