import type { Database } from 'better-sqlite3'
import { msOfId } from '../../core/ids.ts'

export const OLD_OCCURRENCES = `
  SELECT schedule_id AS scheduleId, nominal_at AS nominalAt FROM occurrence
   WHERE id < ? ORDER BY id LIMIT ?`
export const DELETE_OCCURRENCE = `DELETE FROM occurrence WHERE schedule_id = ? AND nominal_at = ?`
export const OLD_SCHEDULES = `
  SELECT id FROM schedule WHERE deleted_at IS NOT NULL AND deleted_at < ?
   ORDER BY deleted_at LIMIT ?`
export const DELETE_SCHEDULE = `DELETE FROM schedule WHERE id = ?`

export type PruneOccurrences = (input: { before: number; limit: number }) => { more: boolean }

export function preparePruneOccurrences(db: Database): PruneOccurrences {
  const old = db.prepare<[number, number], { scheduleId: number; nominalAt: number }>(
    OLD_OCCURRENCES,
  )
  const deleteOccurrence = db.prepare(DELETE_OCCURRENCE)
  const oldSchedules = db.prepare<[number, number], number>(OLD_SCHEDULES).pluck()
  const deleteSchedule = db.prepare(DELETE_SCHEDULE)

  return ({ before, limit }) => {
    const rows = old.all(before, limit)
    for (const { scheduleId, nominalAt } of rows) deleteOccurrence.run(scheduleId, nominalAt)
    const schedules = oldSchedules.all(msOfId(before), limit)
    for (const id of schedules) deleteSchedule.run(id)
    return { more: rows.length === limit || schedules.length === limit }
  }
}
