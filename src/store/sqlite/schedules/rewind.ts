import type { Database } from 'better-sqlite3'
import { OUTCOME_CODE } from '../../../core/schedule/firing/occurrence.ts'
import { MAX_INTERNAL_WAIT_MS, MAX_KEY_MS } from '../../rewind-limits.ts'
import type { RewindCommand, ScheduleRecord } from '../../port.ts'
import { SCHEDULE_COLUMNS, type StoredScheduleRow, toScheduleRecord } from './schedule-row.ts'

export const SCHEDULES_AHEAD = `
  SELECT ${SCHEDULE_COLUMNS} FROM schedule
   WHERE id > :after AND deleted_at IS NULL
     AND (last_nominal_at > :now OR look_at > :now OR updated_at > :now)
   ORDER BY id LIMIT :limit`
export const IS_UNCHANGED = `
  SELECT 1 FROM schedule
   WHERE id = :id AND version = :version AND next_nominal_at IS :nominalAt
     AND last_nominal_at IS :lastNominalAt AND deleted_at IS NULL`
const VOID_COLUMNS = `
  schedule_id, nominal_at, until_at, id, project_id, version, count, outcome, other_run_id, at, reason, detail`
export const KEEP_VOID = `
  INSERT INTO void_occurrence (${VOID_COLUMNS}, voided_at)
  SELECT ${VOID_COLUMNS}, :now FROM occurrence WHERE schedule_id = :id AND nominal_at > :now`
export const DROP_VOID = `DELETE FROM occurrence WHERE schedule_id = :id AND nominal_at > :now`
/** A range that has begun ends now; its remaining times are not counted. */
export const CUT_RANGE = `
  UPDATE occurrence SET until_at = :now, count = NULL
   WHERE schedule_id = :id AND nominal_at <= :now AND until_at > :now`
export const REWIND = `
  UPDATE schedule SET next_nominal_at = :nextAt, look_at = :checkAt,
         last_nominal_at = (SELECT max(until_at) FROM occurrence WHERE schedule_id = :id)
   WHERE id = :id`
/** A pause that was ended by a time which is void now. */
const PAUSE_OF = `
  SELECT max(until_at) FROM occurrence
   WHERE schedule_id = :id AND until_at > :now AND outcome = ${OUTCOME_CODE.skipped} AND reason = 'paused'`
/** Changes by users since then, by the same clock, stay in force. */
const PAUSE_AGAIN = `
  UPDATE schedule SET paused_at = updated_at, paused_until = :until, look_at = :until
   WHERE id = :id AND paused_at IS NULL AND updated_at <= :now`
/** Times that were computed from a time that has not come. */
const TIMERS = [
  `UPDATE node SET reap_at = :now + :maxWait WHERE alive = 0 AND reap_at > :now + :maxWait`,
  `UPDATE node SET expires_at = :now + :maxWait WHERE alive = 1 AND expires_at > :now + :maxWait`,
  `UPDATE run SET recheck_at = :now WHERE status = 3 AND recheck_at > :now + :maxWait`,
  `UPDATE flow SET look_at = :now WHERE look_at > :now`,
  `UPDATE step SET told_at = :now WHERE told_at > :now`,
  `UPDATE dedupe SET until = :now + :key WHERE until > :now + :key`,
  `UPDATE token SET expires_at = expires_at - created_at + :now, created_at = :now
    WHERE created_at > :now`,
  `UPDATE backfill SET look_at = :now WHERE state = 0 AND look_at > :now`,
  `UPDATE delivery SET next_at = :now + :maxWait WHERE state = 0 AND next_at > :now + :maxWait`,
  `UPDATE run SET timer_at = timer_at - created_at + :now
    WHERE status = 2 AND timer_at > :now AND attempt = 1 AND created_at > :now`,
  `UPDATE run SET timer_at = timer_at + :now
          - (SELECT max(finished_at) FROM attempt WHERE attempt.run_id = run.id)
    WHERE status = 2 AND timer_at > :now AND attempt > 1
      AND (SELECT max(finished_at) FROM attempt WHERE attempt.run_id = run.id) > :now`,
] as const

export interface Rewinding {
  schedulesAhead(input: { after: number; limit: number }, now: number): ScheduleRecord[]
  rewindSchedules(commands: readonly RewindCommand[], now: number): number
  rewindTimers(now: number): void
}

export function prepareRewind(db: Database): Rewinding {
  const ahead = db.prepare<[object], StoredScheduleRow>(SCHEDULES_AHEAD)
  const isUnchanged = db.prepare<[object]>(IS_UNCHANGED)
  const [keep, drop, cut] = [KEEP_VOID, DROP_VOID, CUT_RANGE].map((sql) =>
    db.prepare<[object]>(sql),
  )
  const rewind = db.prepare<[object]>(REWIND)
  const pauseOf = db.prepare<[object], number | null>(PAUSE_OF).pluck()
  const pauseAgain = db.prepare<[object]>(PAUSE_AGAIN)
  const timers = TIMERS.map((sql) => db.prepare<[object]>(sql))

  return {
    schedulesAhead: (page, now) => ahead.all({ ...page, now }).map(toScheduleRecord),
    rewindSchedules(commands, now) {
      let count = 0
      for (const { id, version, nominalAt, lastNominalAt, next } of commands) {
        if (!isUnchanged.get({ id, version, nominalAt, lastNominalAt })) continue
        const until = pauseOf.get({ id, now }) ?? null
        for (const statement of [keep, drop, cut]) statement?.run({ id, now })
        rewind.run({ id, nextAt: next.nominalAt, checkAt: next.checkAt })
        if (until !== null) pauseAgain.run({ id, until, now })
        count += 1
      }
      return count
    },
    rewindTimers(now) {
      for (const statement of timers) {
        statement.run({ now, maxWait: MAX_INTERNAL_WAIT_MS, key: MAX_KEY_MS })
      }
    },
  }
}
