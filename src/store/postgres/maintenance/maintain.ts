import type { Database } from '../database/database.ts'
import { CLOCK, type Statement } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'
import { ADD_MISSING_TAG_WEEKS, weekOfMs } from '../partitions/weeks.ts'

const BATCH_SIZE = 2_000
const MANY_DEAD_ROWS = 20_000
const HOUR_MS = 3_600_000
const SESSION_KEPT_MS = 7 * 24 * HOUR_MS
const HOT_TABLES = [
  'ready',
  'timer',
  'lease',
  'blocked',
  'gate',
  'dedupe',
  'schedule_next',
  'awaited',
  'told',
  'need',
]

const READ_CLOCK = { name: 'read-clock', text: `WITH ${CLOCK} SELECT now FROM clock` }
const EXPIRE_KEYS = {
  name: 'expire-keys',
  text: `
  WITH ${CLOCK},
  deleted AS (
    DELETE FROM idempotency WHERE (project_id, key) IN (
      SELECT project_id, key FROM idempotency WHERE until <= (SELECT now FROM clock)
       ORDER BY until LIMIT ${BATCH_SIZE} FOR UPDATE SKIP LOCKED)
    RETURNING 1)
  SELECT count(*)::int AS count FROM deleted`,
}
/** Keeps the row with the highest id mark of a slot, and rows that still have leases. */
const FORGET_NODES = {
  name: 'forget-nodes',
  text: `
  WITH ${CLOCK}
  DELETE FROM node USING clock
   WHERE NOT alive AND reap_at < now - ${HOUR_MS}
     AND EXISTS (SELECT FROM node other
                  WHERE other.slot = node.slot AND (other.id_mark, other.id) > (node.id_mark, node.id))
     AND NOT EXISTS (SELECT FROM lease WHERE lease.node = node.id)`,
}
/** A lost session has no offer. A session with leases stays: its worker may come back for them. */
const FORGET_SESSIONS = {
  name: 'forget-sessions',
  text: `
  WITH ${CLOCK}
  DELETE FROM session USING clock
   WHERE seen_at < now - ${SESSION_KEPT_MS}
     AND (offer IS NULL OR NOT EXISTS (SELECT FROM node WHERE node.id = session.node AND alive))
     AND NOT EXISTS (SELECT FROM lease WHERE lease.session = session.id)`,
}
const DEAD_ROWS = {
  name: 'dead-rows',
  text: `
  SELECT relname AS table FROM pg_stat_user_tables
   WHERE schemaname = current_schema() AND relname = ANY ($1::text[]) AND n_dead_tup > $2::int`,
}

type MaintenanceTask = readonly [what: string, duty: () => Promise<unknown>]

/** Runs all maintenance tasks. A task that fails is reported and does not stop the others. */
export async function maintain(
  db: Database,
  { mayDelete, isClockOff = false }: { mayDelete: boolean; isClockOff?: boolean },
): Promise<void> {
  const duties: readonly MaintenanceTask[] = [
    ...(isClockOff
      ? []
      : [['make partitions for the weeks ahead', () => makePartitions(db)] as MaintenanceTask]),
    ...(mayDelete ? expiries(db) : []),
    ['vacuum hot tables', () => vacuum(db)],
  ]
  for (const [what, duty] of duties) {
    try {
      await duty()
    } catch (error) {
      db.onWarn(`could not ${what}: ${(error as Error).message}`)
    }
  }
}

function expiries(db: Database): MaintenanceTask[] {
  return [
    ['forget expired keys', () => expireKeys(db)],
    ['forget dead nodes', () => run(db, FORGET_NODES)],
    ['forget old sessions', () => run(db, FORGET_SESSIONS)],
  ]
}

async function makePartitions(db: Database): Promise<void> {
  const [clock] = await read<{ now: number }>(db.reading, READ_CLOCK, [db.now()])
  await db.weeks.ensureAhead(weekOfMs(clock!.now))
  // A node of a version without the tag index created weeks without it.
  await read(db.reading, { name: '', text: ADD_MISSING_TAG_WEEKS })
}

async function expireKeys(db: Database): Promise<void> {
  let count = BATCH_SIZE
  while (count === BATCH_SIZE) {
    const [row] = await run<{ count: number }>(db, EXPIRE_KEYS)
    count = row!.count
  }
}

/** Autovacuum does this too, but its workers may be busy elsewhere for hours. */
async function vacuum(db: Database): Promise<void> {
  const rows = await read<{ table: string }>(db.reading, DEAD_ROWS, [HOT_TABLES, MANY_DEAD_ROWS])
  for (const { table } of rows) {
    await read(db.reading, { name: '', text: `VACUUM (SKIP_LOCKED) ${table}` })
  }
}

async function run<Row>(db: Database, statement: Statement): Promise<Row[]> {
  return transact(db.reading, (tx) => tx.query<Row>(statement, [db.now()]), 'single')
}
