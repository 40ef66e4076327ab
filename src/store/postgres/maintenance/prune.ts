import { idAtMs } from '../../../core/ids.ts'
import type { MaintenanceStore } from '../../port.ts'
import type { Database } from '../database/database.ts'
import { sqlStateOf } from '../connection/store-errors.ts'
import { pruneWorkflows } from './prune-workflows.ts'
import type { Queryable } from '../connection/statement.ts'
import { transact } from '../connection/transaction.ts'
import { atticName, firstIdOfWeek, HISTORY, partitionName } from '../partitions/weeks.ts'

type Input = Parameters<MaintenanceStore['prune']>[0]

/** More runs than this are not moved to the attic in one transaction; they are pruned in place. */
const MAX_KEPT_RUNS = 50_000
/**
 * Blocking every tick is acceptable for a moment, not longer; the next maintenance run tries again.
 */
const LOCK_TIMEOUT = `SET LOCAL lock_timeout = '200ms'`
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Rows that must outlive their week: runs without an end, which are in a hot table or are
 * workflows, the steps of such workflows, and runs whose end is too recent. No other run can join
 * these later: a retry could reuse one, but may as well find it deleted.
 */
const keepSet = (week: number) => {
  const [low, high] = [firstIdOfWeek(week), firstIdOfWeek(week + 1)]
  const live = ['ready', 'timer', 'lease', 'blocked'].map(
    (table) => `SELECT run_id FROM ${table} WHERE run_id >= ${low} AND run_id < ${high}`,
  )
  live.push(
    `SELECT run_id FROM flow WHERE ended_at IS NULL AND run_id >= ${low} AND run_id < ${high}`,
  )
  live.push(
    `SELECT s.run_id FROM flow f JOIN step s ON s.flow_id = f.run_id
      WHERE f.ended_at IS NULL AND s.run_id >= ${low} AND s.run_id < ${high}`,
  )
  const recent = `SELECT run_id FROM ${partitionName('run_end', week)} WHERE finished_at >= $1::bigint`
  return `SELECT DISTINCT run_id FROM (${[...live, recent].join(' UNION ALL ')}) kept LIMIT $2::int`
}

const PRUNE_ROWS = {
  name: 'prune-rows',
  text: `
  WITH old AS MATERIALIZED (
    SELECT run_id FROM run_end e WHERE run_id < $1::bigint AND finished_at < $2::bigint
       AND NOT EXISTS (
         SELECT FROM step s JOIN flow f ON f.run_id = s.flow_id
          WHERE s.run_id = e.run_id AND f.ended_at IS NULL)
     ORDER BY run_id LIMIT $3::int),
  deleted AS (DELETE FROM run WHERE id = ANY (ARRAY(SELECT run_id FROM old))),
  ends AS (DELETE FROM run_end WHERE run_id = ANY (ARRAY(SELECT run_id FROM old))),
  attempts AS (DELETE FROM attempt WHERE run_id = ANY (ARRAY(SELECT run_id FROM old))),
  chunks AS (DELETE FROM log_chunk WHERE run_id = ANY (ARRAY(SELECT run_id FROM old)))
  SELECT count(*)::int AS count FROM old`,
}

/**
 * Drops the oldest week as a whole once all of it is old enough; rows that must stay move to the
 * attic, the partition below all weeks. Only there are rows deleted one by one.
 */
export async function prune(
  db: Database,
  { endedBefore, limit }: Input,
): Promise<{ more: boolean }> {
  await db.weeks.refresh()
  const [oldest] = db.weeks.weeks
  const bound = idAtMs(endedBefore)
  const isOld = oldest !== undefined && firstIdOfWeek(oldest + 1) <= bound
  if (isOld) {
    const result = await tryDrop(db, oldest, endedBefore)
    await db.weeks.refresh()
    if (result !== 'too full') return { more: result === 'dropped' }
  }
  // With the oldest week too full to move, old runs are pruned in place; without any week, all are
  // in the attic.
  const below = isOld || oldest === undefined ? bound : firstIdOfWeek(oldest)
  const [row] = await transact(
    db.reading,
    (tx) => tx.query<{ count: number }>(PRUNE_ROWS, [below, endedBefore, limit]),
    'single',
  )
  const workflows = await pruneWorkflows(db, { below, limit })
  return { more: row!.count === limit || workflows.more }
}

/** Tag weeks whose runs were dropped by a node of a version before the tag index. */
const TAG_WEEKS_WITHOUT_RUNS = `
  SELECT child.relname AS name
    FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
   WHERE inhparent = 'run_tag'::regclass
     AND NOT EXISTS (
       SELECT FROM pg_inherits JOIN pg_class runs ON runs.oid = inhrelid
        WHERE inhparent = 'run'::regclass
          AND child.relname = regexp_replace(runs.relname, '^run_', 'run_tag_'))`
const TAGS_INDEXED_FROM = `
  UPDATE meta SET value = greatest(value::bigint, $1::bigint)::text WHERE key = 'tags_indexed_from'`

type DropResult = 'dropped' | 'too full' | 'busy'

async function tryDrop(db: Database, week: number, endedBefore: number): Promise<DropResult> {
  try {
    return await transact(db.reading, (tx) => dropWeek(tx, week, endedBefore), 'transaction', 1)
  } catch (error) {
    if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE) throw error
    db.onWarn('pruning postponed: the history tables are in use')
    return 'busy'
  }
}

async function dropWeek(tx: Queryable, week: number, endedBefore: number): Promise<DropResult> {
  const run = <Row>(text: string, values: readonly unknown[] = []) =>
    tx.query<Row>({ name: '', text }, values)
  await run(LOCK_TIMEOUT)
  // Computed before the tables are locked: this reads a whole week, and ticks continue meanwhile.
  const kept = await run<{ run_id: number }>(keepSet(week), [endedBefore, MAX_KEPT_RUNS + 1])
  if (kept.length > MAX_KEPT_RUNS) return 'too full'
  const ids = kept.map((row) => row.run_id)
  for (const { table } of HISTORY) await run(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
  // These partitions would overlap with the attic of `run_tag`, whose range grows below.
  for (const { name } of await run<{ name: string }>(TAG_WEEKS_WITHOUT_RUNS)) {
    await run(`DROP TABLE ${name}`)
  }
  for (const { table, key } of HISTORY) {
    const [old, attic] = [partitionName(table, week), atticName(table)]
    await run(`ALTER TABLE ${table} DETACH PARTITION ${old}`)
    await run(`ALTER TABLE ${table} DETACH PARTITION ${attic}`)
    // A kept run may have ended meanwhile: its end is copied as it is now. Tags have no index by
    // run, and finding them would hold the lock for long: the attic is scanned instead.
    if (table !== 'run_tag') {
      await run(`INSERT INTO ${attic} SELECT * FROM ${old} WHERE ${key} = ANY ($1::bigint[])`, [
        ids,
      ])
    }
    await run(`DROP TABLE ${old}`)
    await run(
      `ALTER TABLE ${table} ATTACH PARTITION ${attic}
         FOR VALUES FROM (MINVALUE) TO (${firstIdOfWeek(week + 1)})`,
    )
  }
  await run(TAGS_INDEXED_FROM, [firstIdOfWeek(week + 1)])
  return 'dropped'
}
