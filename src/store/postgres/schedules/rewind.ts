import { OUTCOME_CODE } from '../../../core/schedule/firing/occurrence.ts'
import { MAX_INTERNAL_WAIT_MS, MAX_KEY_MS } from '../../rewind-limits.ts'
import type { RewindCommand, ScheduleRecord } from '../../port.ts'
import { bigints, ints } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { type ScheduleRow, toSchedule } from '../../schedule-row.ts'
import { SCHEDULE_COLUMNS } from './schedule-row.ts'
import { CLOCK } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'

const SCHEDULES_AHEAD = {
  name: 'schedules-ahead',
  text: `
  WITH ${CLOCK}
  SELECT ${SCHEDULE_COLUMNS}
    FROM schedule s JOIN schedule_next n ON n.schedule_id = s.id CROSS JOIN clock
   WHERE s.id > $2::bigint AND s.deleted_at IS NULL
     AND (n.last_nominal_at > now OR n.look_at > now OR s.updated_at > now)
   ORDER BY s.id LIMIT $3::int`,
}
/** Locked in the order of their ids, as by every transaction that changes several. */
const LOCK_UNCHANGED = {
  name: 'lock-schedules-to-rewind',
  text: `
  SELECT n.schedule_id AS id
    FROM schedule_next n
    JOIN unnest($1::bigint[], $2::int[], $3::bigint[], $4::bigint[])
      AS item (id, version, nominal_at, last) ON item.id = n.schedule_id
   WHERE n.version = item.version AND n.nominal_at IS NOT DISTINCT FROM item.nominal_at
     AND n.last_nominal_at IS NOT DISTINCT FROM item.last
   ORDER BY n.schedule_id FOR UPDATE OF n`,
}
const COLUMNS = `
  schedule_id, nominal_at, until_at, id, project_id, version, count, outcome, other_run_id, at, reason, detail`
/**
 * Pauses that were ended by times which are void now. Changes by users since then, by the same
 * clock, stay in force.
 */
const PAUSE_AGAIN = {
  name: 'pause-schedules-again',
  text: `
  UPDATE schedule s SET paused_at = s.updated_at, paused_until = ended.until
    FROM (SELECT schedule_id AS id, max(until_at) AS until FROM occurrence
           WHERE schedule_id = ANY ($2::bigint[]) AND until_at > $1::bigint
             AND outcome = ${OUTCOME_CODE.skipped} AND reason = 'paused'
           GROUP BY schedule_id) ended
   WHERE s.id = ended.id AND s.paused_at IS NULL AND s.updated_at <= $1::bigint
  RETURNING s.id, s.paused_until AS until`,
}
const VOID = {
  name: 'void-occurrences',
  text: `
  WITH deleted AS (
    DELETE FROM occurrence WHERE schedule_id = ANY ($2::bigint[]) AND nominal_at > $1::bigint
    RETURNING ${COLUMNS})
  INSERT INTO void_occurrence (${COLUMNS}, voided_at) SELECT ${COLUMNS}, $1::bigint FROM deleted`,
}
/** A range that has begun ends now; its remaining times are not counted. */
const CUT_RANGES = {
  name: 'cut-occurrences',
  text: `
  UPDATE occurrence SET until_at = $1::bigint, count = NULL
   WHERE schedule_id = ANY ($2::bigint[]) AND nominal_at <= $1::bigint AND until_at > $1::bigint`,
}
const REWIND = {
  name: 'rewind-schedules',
  text: `
  UPDATE schedule_next n
     SET nominal_at = item.nominal_at, look_at = item.look_at,
         last_nominal_at = (SELECT max(until_at) FROM occurrence o WHERE o.schedule_id = item.id)
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS item (id, nominal_at, look_at)
   WHERE n.schedule_id = item.id`,
}
const MAX_WAIT_MS = MAX_INTERNAL_WAIT_MS
/** Times that were computed from a time that has not come. */
const TIMERS = [
  `UPDATE node SET reap_at = now + ${MAX_WAIT_MS} FROM clock WHERE NOT alive AND reap_at > now + ${MAX_WAIT_MS}`,
  `UPDATE node SET expires_at = now + ${MAX_WAIT_MS} FROM clock WHERE alive AND expires_at > now + ${MAX_WAIT_MS}`,
  `UPDATE blocked SET recheck_at = now FROM clock WHERE recheck_at > now + ${MAX_WAIT_MS}`,
  `UPDATE flow SET look_at = now FROM clock WHERE look_at > now`,
  `UPDATE told SET at = now FROM clock WHERE at > now`,
  `UPDATE idempotency SET until = now + ${MAX_KEY_MS} FROM clock WHERE until > now + ${MAX_KEY_MS}`,
  `UPDATE token SET expires_at = expires_at - created_at + now, created_at = now
     FROM clock WHERE created_at > now`,
  `UPDATE backfill SET look_at = now FROM clock WHERE state = 0 AND look_at > now`,
  `UPDATE delivery SET next_at = now + ${MAX_WAIT_MS} FROM clock WHERE state = 0 AND next_at > now + ${MAX_WAIT_MS}`,
  `UPDATE timer SET due_at = timer.due_at - run.created_at + now FROM clock, run
    WHERE timer.attempt = 1 AND timer.due_at > now AND run.id = timer.run_id AND run.created_at > now`,
  `UPDATE timer SET due_at = due_at + now
          - (SELECT max(finished_at) FROM attempt a WHERE a.run_id = timer.run_id)
     FROM clock
    WHERE timer.attempt > 1 AND due_at > now
      AND (SELECT max(finished_at) FROM attempt a WHERE a.run_id = timer.run_id) > now`,
].map((text, index) => ({ name: `rewind-timers-${index}`, text: `WITH ${CLOCK} ${text}` }))

export async function schedulesAhead(
  db: Database,
  { after, limit }: { after: number; limit: number },
): Promise<readonly ScheduleRecord[]> {
  const rows = await read<ScheduleRow>(db.duty, SCHEDULES_AHEAD, [db.now(), after, limit])
  return rows.map(toSchedule)
}

export async function rewindSchedules(
  db: Database,
  commands: readonly RewindCommand[],
  now: number,
): Promise<number> {
  return transact(db.duty, async (tx) => {
    const locked = await tx.query<{ id: number }>(LOCK_UNCHANGED, [
      bigints(commands.map(({ id }) => id)),
      ints(commands.map(({ version }) => version)),
      bigints(commands.map(({ nominalAt }) => nominalAt)),
      bigints(commands.map(({ lastNominalAt }) => lastNominalAt)),
    ])
    if (locked.length === 0) return 0
    const ids = new Set(locked.map(({ id }) => id))
    const moved = commands.filter(({ id }) => ids.has(id))
    const paused = await tx.query<{ id: number; until: number }>(PAUSE_AGAIN, [
      now,
      bigints([...ids]),
    ])
    const untils = new Map(paused.map(({ id, until }) => [id, until]))
    await tx.query(VOID, [now, bigints([...ids])])
    await tx.query(CUT_RANGES, [now, bigints([...ids])])
    await tx.query(REWIND, [
      bigints(moved.map(({ id }) => id)),
      bigints(moved.map(({ next }) => next.nominalAt)),
      bigints(moved.map(({ id, next }) => untils.get(id) ?? next.checkAt)),
    ])
    return ids.size
  })
}

export async function rewindTimers(db: Database): Promise<void> {
  await transact(db.duty, async (tx) => {
    for (const statement of TIMERS) await tx.query(statement, [db.now()])
  })
}
