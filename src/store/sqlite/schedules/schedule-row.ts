import type { ScheduleRecord } from '../../port.ts'
import { pendingSkip } from '../../rewind-limits.ts'

export const SCHEDULE_COLUMNS = `
  id, project_id AS projectId, job_id AS jobId, name, version, spec,
  next_nominal_at AS nextNominalAt, look_at AS checkAt, last_nominal_at AS lastNominalAt,
  open_runs AS openRuns, skip_nominal_at AS skipNominalAt, paused_at AS pausedAt,
  paused_until AS pausedUntil, paused_reason AS pausedReason, paused_by_job AS pausedByJob,
  resumed_at AS resumedAt, error, created_at AS createdAt, created_by AS createdBy,
  updated_at AS updatedAt, updated_by AS updatedBy`

export type ScheduleRow = Omit<ScheduleRecord, 'next' | 'openRuns' | 'pause'> & {
  readonly nextNominalAt: number | null
  readonly checkAt: number | null
  readonly openRuns: string | null
  readonly pausedAt: number | null
  readonly pausedUntil: number | null
  readonly pausedReason: string | null
  readonly pausedByJob: number
  readonly resumedAt: number | null
}

export function toSchedule(row: ScheduleRow): ScheduleRecord {
  const { nextNominalAt, checkAt, openRuns, ...rest } = row
  const { pausedAt, pausedUntil, pausedReason, pausedByJob, resumedAt, ...same } = rest
  return {
    ...same,
    next: { nominalAt: nextNominalAt, checkAt },
    skipNominalAt: pendingSkip(row.skipNominalAt, nextNominalAt),
    openRuns: parseRuns(openRuns),
    pause:
      pausedAt === null
        ? null
        : {
            at: pausedAt,
            until: pausedUntil,
            reason: pausedReason,
            byJob: pausedByJob === 1,
            resumedAt,
          },
  }
}

export function parseRuns(stored: string | null): number[] {
  return stored === null ? [] : (JSON.parse(stored) as number[])
}

/** What keeps the schedule from firing, if anything. */
export function pausedBy(row: {
  readonly pausedAt: number | null
  readonly pausedByJob: number
  readonly resumedAt: number | null
}): 'people' | 'job' | null {
  if (row.pausedAt === null || row.resumedAt !== null) return null
  return row.pausedByJob === 1 ? 'job' : 'people'
}
