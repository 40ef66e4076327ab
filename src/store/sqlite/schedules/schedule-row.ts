import type { ScheduleRecord } from '../../port.ts'
import { type ScheduleRow, toSchedule } from '../../schedule-row.ts'

export const SCHEDULE_COLUMNS = `
  id, project_id AS projectId, job_id AS jobId, name, version, spec,
  next_nominal_at AS nextNominalAt, look_at AS checkAt, last_nominal_at AS lastNominalAt,
  open_runs AS openRuns, skip_nominal_at AS skipNominalAt, paused_at AS pausedAt,
  paused_until AS pausedUntil, paused_reason AS pausedReason, paused_by_job AS pausedByJob,
  resumed_at AS resumedAt, error, created_at AS createdAt, created_by AS createdBy,
  updated_at AS updatedAt, updated_by AS updatedBy`

/** A schedule as the driver returns it: SQLite has neither booleans nor arrays. */
export type StoredScheduleRow = Omit<ScheduleRow, 'openRuns' | 'pausedByJob'> & {
  readonly openRuns: string | null
  readonly pausedByJob: number
}

export function toScheduleRecord(row: StoredScheduleRow): ScheduleRecord {
  const { openRuns, pausedByJob } = row
  return toSchedule({ ...row, openRuns: parseRuns(openRuns), pausedByJob: pausedByJob === 1 })
}

export function parseRuns(stored: string | null): number[] {
  return stored === null ? [] : (JSON.parse(stored) as number[])
}
