import type { Database } from 'better-sqlite3'
import { msOfId } from '../../../core/ids.ts'

export const OLD_OCCURRENCES = `
  SELECT schedule_id AS scheduleId, nominal_at AS nominalAt FROM occurrence
   WHERE id < ? ORDER BY id LIMIT ?`
export const DELETE_OCCURRENCE = `DELETE FROM occurrence WHERE schedule_id = ? AND nominal_at = ?`
export const OLD_SCHEDULES = `
  SELECT id FROM schedule WHERE deleted_at IS NOT NULL AND deleted_at < ?
   ORDER BY deleted_at LIMIT ?`
export const OLD_BACKFILLED = `
  SELECT schedule_id AS scheduleId, nominal_at AS nominalAt, run_id AS runId FROM backfill_time
   WHERE run_id < ? ORDER BY run_id LIMIT ?`
export const DELETE_BACKFILLED = `
  DELETE FROM backfill_time WHERE schedule_id = ? AND nominal_at = ? AND run_id = ?`
export const OLD_BACKFILLS = `
  SELECT id FROM backfill WHERE finished_at IS NOT NULL AND finished_at < ?
   ORDER BY finished_at LIMIT ?`
export const DELETE_BACKFILL = `DELETE FROM backfill WHERE id = ?`
export const OLD_VIOLATIONS = `
  SELECT run_id AS runId, kind FROM lapse WHERE run_id < ? ORDER BY run_id LIMIT ?`
export const DELETE_VIOLATION = `DELETE FROM lapse WHERE run_id = ? AND kind = ?`
export const OLD_FOLLOW_UPS = `
  SELECT source_run_id AS runId, job_id AS jobId FROM follow_up
   WHERE settled_at IS NOT NULL AND settled_at < ? ORDER BY settled_at LIMIT ?`
export const DELETE_FOLLOW_UP = `DELETE FROM follow_up WHERE source_run_id = ? AND job_id = ?`
export const DELETE_VOID = `
  DELETE FROM void_occurrence WHERE (schedule_id, nominal_at, id) IN (
    SELECT schedule_id, nominal_at, id FROM void_occurrence
     WHERE voided_at < ? ORDER BY voided_at LIMIT ?)`
export const DELETE_SCHEDULE = `DELETE FROM schedule WHERE id = ?`

interface Backfilled {
  readonly scheduleId: number
  readonly nominalAt: number
  readonly runId: number
}

export type PruneOccurrences = (input: { before: number; limit: number }) => { more: boolean }

export function preparePruneOccurrences(db: Database): PruneOccurrences {
  const old = db.prepare<[number, number], { scheduleId: number; nominalAt: number }>(
    OLD_OCCURRENCES,
  )
  const deleteOccurrence = db.prepare(DELETE_OCCURRENCE)
  const oldSchedules = db.prepare<[number, number], number>(OLD_SCHEDULES).pluck()
  const deleteSchedule = db.prepare(DELETE_SCHEDULE)
  const oldTimes = db.prepare<[number, number], Backfilled>(OLD_BACKFILLED)
  const deleteTime = db.prepare(DELETE_BACKFILLED)
  const oldBackfills = db.prepare<[number, number], number>(OLD_BACKFILLS).pluck()
  const deleteBackfill = db.prepare(DELETE_BACKFILL)
  const oldViolations = db.prepare<[number, number], { runId: number; kind: number }>(
    OLD_VIOLATIONS,
  )
  const deleteViolation = db.prepare(DELETE_VIOLATION)
  const oldFollowUps = db.prepare<[number, number], { runId: number; jobId: number }>(
    OLD_FOLLOW_UPS,
  )
  const deleteFollowUp = db.prepare(DELETE_FOLLOW_UP)

  const deleteVoid = db.prepare<[number, number]>(DELETE_VOID)

  return ({ before, limit }) => {
    const rows = old.all(before, limit)
    for (const { scheduleId, nominalAt } of rows) deleteOccurrence.run(scheduleId, nominalAt)
    const schedules = oldSchedules.all(msOfId(before), limit)
    for (const id of schedules) deleteSchedule.run(id)
    const times = oldTimes.all(before, limit)
    for (const { scheduleId, nominalAt, runId } of times)
      deleteTime.run(scheduleId, nominalAt, runId)
    const backfills = oldBackfills.all(msOfId(before), limit)
    for (const id of backfills) deleteBackfill.run(id)
    const violations = oldViolations.all(before, limit)
    for (const { runId, kind } of violations) deleteViolation.run(runId, kind)
    const followUps = oldFollowUps.all(msOfId(before), limit)
    for (const { runId, jobId } of followUps) deleteFollowUp.run(runId, jobId)
    const voided = deleteVoid.run(msOfId(before), limit).changes
    const batches = [rows, schedules, times, backfills, violations, followUps]
    return { more: voided === limit || batches.some((batch) => batch.length === limit) }
  }
}
