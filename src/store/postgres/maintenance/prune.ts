import { idAtMs } from '../../../core/ids.ts'
import type { Upkeep } from '../../port.ts'
import type { Database } from '../database/database.ts'
import { sqlStateOf } from '../connection/store-errors.ts'
import { pruneFlows } from '../workflows/prune-workflows.ts'
import type { Work } from '../connection/statement.ts'
import { transact } from '../connection/transaction.ts'
import { atticName, firstIdOfWeek, HISTORY, partitionName } from '../partitions/weeks.ts'

type Input = Parameters<Upkeep['prune']>[0]

/** More runs than this are not carried to the attic in one transaction; they are pruned in place. */
const MOST_KEPT = 50_000
/** Stopping every tick is worth a moment, not more; next time is soon enough. */
const LOCK_TIMEOUT = `SET LOCAL lock_timeout = '200ms'`
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * What must outlive its week: runs without an end, which are in a hot table or are flows, the steps of
 * such flows, and those whose end is too recent. A run in none of these places may join none afterwards:
 * a retry could take it over, but may as well find it gone already.
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
  gone AS (DELETE FROM run WHERE id = ANY (ARRAY(SELECT run_id FROM old))),
  ends AS (DELETE FROM run_end WHERE run_id = ANY (ARRAY(SELECT run_id FROM old))),
  attempts AS (DELETE FROM attempt WHERE run_id = ANY (ARRAY(SELECT run_id FROM old))),
  chunks AS (DELETE FROM log_chunk WHERE run_id = ANY (ARRAY(SELECT run_id FROM old)))
  SELECT count(*)::int AS count FROM old`,
}

/**
 * Forgets the oldest week as a whole once all of it is old enough; what must stay moves to the attic,
 * the partition below all weeks. Only there are rows deleted one by one.
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
    const fate = await tryDrop(db, oldest, endedBefore)
    await db.weeks.refresh()
    if (fate !== 'too full') return { more: fate === 'dropped' }
  }
  // With the oldest week too full to move, all that is old is pruned in place.
  const below = isOld ? bound : firstIdOfWeek(oldest ?? 0)
  const [row] = await transact(
    db.reading,
    (work) => work.query<{ count: number }>(PRUNE_ROWS, [below, endedBefore, limit]),
    'single',
  )
  const flows = await pruneFlows(db, { below, limit })
  return { more: row!.count === limit || flows.more }
}

type WeekFate = 'dropped' | 'too full' | 'busy'

async function tryDrop(db: Database, week: number, endedBefore: number): Promise<WeekFate> {
  try {
    return await transact(db.reading, (work) => dropWeek(work, week, endedBefore), 'transaction', 1)
  } catch (error) {
    if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE) throw error
    db.onWarn('pruning is put off: history is in use')
    return 'busy'
  }
}

async function dropWeek(work: Work, week: number, endedBefore: number): Promise<WeekFate> {
  const run = <Row>(text: string, values: readonly unknown[] = []) =>
    work.query<Row>({ name: '', text }, values)
  await run(LOCK_TIMEOUT)
  // Computed before the tables are locked: this reads a whole week, and ticks go on meanwhile.
  const kept = await run<{ run_id: number }>(keepSet(week), [endedBefore, MOST_KEPT + 1])
  if (kept.length > MOST_KEPT) return 'too full'
  const ids = kept.map((row) => row.run_id)
  for (const { table } of HISTORY) await run(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
  for (const { table, key } of HISTORY) {
    const [old, attic] = [partitionName(table, week), atticName(table)]
    await run(`ALTER TABLE ${table} DETACH PARTITION ${old}`)
    await run(`ALTER TABLE ${table} DETACH PARTITION ${attic}`)
    // A kept run may have ended meanwhile: its end is copied as it is now.
    await run(`INSERT INTO ${attic} SELECT * FROM ${old} WHERE ${key} = ANY ($1::bigint[])`, [ids])
    await run(`DROP TABLE ${old}`)
    await run(
      `ALTER TABLE ${table} ATTACH PARTITION ${attic}
         FOR VALUES FROM (MINVALUE) TO (${firstIdOfWeek(week + 1)})`,
    )
  }
  return 'dropped'
}
