import { BACKFILL_STATES, backfillStateOf } from '../../../core/schedule/backfill/backfill.ts'
import type {
  BackfilledTime,
  BackfillTransition,
  BackfillRecord,
  BackfillStore,
  NewRun,
} from '../../port.ts'
import { addAudit } from '../audit/audit.ts'
import { bigints } from '../connection/binary-arrays.ts'
import { type Database, pickLists } from '../database/database.ts'
import { admitWaiting, decideAdmission } from '../gates/admit-new-runs.ts'
import { CLOCK, type Queryable } from '../connection/statement.ts'
import { insertRuns } from '../ticks/submit.ts'
import { read, transact } from '../connection/transaction.ts'

const COLUMNS = `
  id, project_id AS "projectId", schedule_id AS "scheduleId", version, state, spec, place AS "processedUntil",
  look_at AS "checkAt", coalesce(open_runs, '{}') AS "openRuns", made, passed, error,
  created_at AS "createdAt", created_by AS "createdBy", finished_at AS "finishedAt"`
const FIND = {
  name: 'find-backfill',
  text: `SELECT ${COLUMNS} FROM backfill WHERE id = $1::bigint AND project_id = $2::int`,
}
const OF_PROJECT = {
  name: 'backfills-of-project',
  text: `SELECT ${COLUMNS} FROM backfill WHERE project_id = $1::int AND id < $2::bigint
          ORDER BY id DESC LIMIT $3::int`,
}
const OPEN = {
  name: 'open-backfills',
  text: `SELECT ${COLUMNS} FROM backfill WHERE state = 0 AND look_at <= $1::bigint
          ORDER BY look_at LIMIT $2::int`,
}
const BACKFILLED = {
  name: 'backfilled-times',
  text: `
  SELECT nominal_at AS "nominalAt", run_id AS "runId", backfill_id AS "backfillId"
    FROM backfill_time
   WHERE schedule_id = $1::bigint AND nominal_at >= $2::bigint AND nominal_at <= $3::bigint
   ORDER BY nominal_at, run_id LIMIT $4::int`,
}
const BACKFILLED_BY = {
  name: 'backfilled-by',
  text: `
  SELECT schedule_id AS "scheduleId", nominal_at AS "nominalAt", run_id AS "runId",
         backfill_id AS "backfillId"
    FROM backfill_time WHERE run_id = $1::bigint`,
}
const ADD = {
  name: 'add-backfill',
  text: `
  WITH ${CLOCK}
  INSERT INTO backfill (id, project_id, schedule_id, version, state, look_at, made, passed,
                        created_at, created_by, spec)
  SELECT $2::bigint, $3::int, $4::bigint, 1, 0, now, 0, 0, now, $5::int, $6 FROM clock`,
}
const MOVE = {
  name: 'advance-backfill',
  text: `
  WITH ${CLOCK}
  UPDATE backfill
     SET version = version + 1, state = $4::smallint, place = $5::bigint, look_at = $6::bigint,
         open_runs = $7::bigint[], made = made + $8::int, passed = passed + $9::int, error = $10,
         finished_at = CASE WHEN $4::smallint = 0 THEN NULL ELSE clock.now END
    FROM clock
   WHERE id = $2::bigint AND version = $3::int AND state = 0
  RETURNING schedule_id AS "scheduleId"`,
}
const ADD_TIMES = {
  name: 'add-backfill-times',
  text: `
  INSERT INTO backfill_time (schedule_id, nominal_at, run_id, backfill_id)
  SELECT $1::bigint, item.nominal_at, item.run_id, $2::bigint
    FROM unnest($3::bigint[], $4::bigint[]) AS item (nominal_at, run_id)`,
}
const CANCEL = {
  name: 'cancel-backfill',
  text: `
  WITH ${CLOCK}
  UPDATE backfill SET version = version + 1, state = 2, finished_at = clock.now FROM clock
   WHERE id = $2::bigint AND project_id = $3::int AND state = 0 RETURNING id`,
}

type Input<Name extends keyof BackfillStore> = Parameters<BackfillStore[Name]>[0]
type Row = Omit<BackfillRecord, 'state'> & { readonly state: number }

export async function addBackfill(
  db: Database,
  { id, projectId, scheduleId, spec, audit }: Input<'addBackfill'>,
): Promise<void> {
  await transact(db.duty, async (tx) => {
    await tx.query(ADD, [db.now(), id, projectId, scheduleId, audit.actor, spec])
    await addAudit(tx, db.now(), audit)
  })
}

export async function findBackfill(
  db: Database,
  { projectId, id }: Input<'findBackfill'>,
): Promise<BackfillRecord | null> {
  const [row] = await read<Row>(db.reading, FIND, [id, projectId])
  return row ? toBackfill(row) : null
}

export async function listBackfills(
  db: Database,
  { projectId, before, limit }: Input<'listBackfills'>,
): Promise<BackfillRecord[]> {
  return (await read<Row>(pickLists(db), OF_PROJECT, [projectId, before, limit])).map(toBackfill)
}

export async function openBackfills(
  db: Database,
  { until, limit }: Input<'openBackfills'>,
): Promise<BackfillRecord[]> {
  return (await read<Row>(db.duty, OPEN, [until, limit])).map(toBackfill)
}

export async function backfilledTimes(
  db: Database,
  { scheduleId, from, until, limit }: Input<'backfilledTimes'>,
): Promise<BackfilledTime[]> {
  return read<BackfilledTime>(pickLists(db), BACKFILLED, [scheduleId, from, until, limit])
}

export async function backfilledBy(
  db: Database,
  { runId }: Input<'backfilledBy'>,
): ReturnType<BackfillStore['backfilledBy']> {
  const rows = await read<BackfilledTime & { scheduleId: number }>(db.reading, BACKFILLED_BY, [
    runId,
  ])
  return rows[0] ?? null
}

export async function advanceBackfill(
  db: Database,
  { node, runs, openRuns, state, ...move }: BackfillTransition,
): Promise<{ lanes: number[] } | null> {
  await db.weeks.ensure(runs.map(({ run }) => run.id))
  return transact(db.duty, async (tx) => {
    const [row] = await tx.query<{ scheduleId: number }>(MOVE, [
      db.now(),
      move.id,
      move.version,
      BACKFILL_STATES.indexOf(state),
      move.processedUntil,
      move.checkAt,
      openRuns.length > 0 ? bigints(openRuns) : null,
      runs.length,
      move.passed,
      move.error,
    ])
    if (!row) return null
    if (runs.length === 0) return { lanes: [] }
    const nominal = runs.map(({ nominalAt }) => nominalAt)
    const ids = runs.map(({ run }) => run.id)
    await tx.query(ADD_TIMES, [row.scheduleId, move.id, bigints(nominal), bigints(ids)])
    const made = runs.map(({ run }) => run)
    return { lanes: await insert(tx, made, node, db.now()) }
  })
}

async function insert(
  tx: Queryable,
  runs: readonly NewRun[],
  node: number,
  testNow: number | null,
): Promise<number[]> {
  const byId = runs.toSorted((a, b) => a.id - b.id)
  // Their nominal times have passed.
  const due = byId.map((run) => ({ ...run, dueAt: null }))
  const admission = await decideAdmission(tx, testNow, due, [])
  await insertRuns(tx, testNow, node, byId, { assumeNew: true, admission })
  const admitted = await admitWaiting(tx, admission)
  const ready = byId
    .filter(({ id, gates }) => gates.length === 0 || admission.passes.has(id))
    .map(({ laneId }) => laneId)
  return [...new Set([...ready, ...admitted])].toSorted((a, b) => a - b)
}

export async function cancelBackfill(
  db: Database,
  { projectId, id, audit }: Input<'cancelBackfill'>,
): Promise<boolean> {
  return transact(db.duty, async (tx) => {
    const rows = await tx.query(CANCEL, [db.now(), id, projectId])
    if (rows.length > 0) await addAudit(tx, db.now(), audit)
    return rows.length > 0
  })
}

function toBackfill(row: Row): BackfillRecord {
  return { ...row, state: backfillStateOf(row.state) }
}
