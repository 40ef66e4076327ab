import type { ScheduleRecord } from '../../port.ts'
import { pendingSkip } from '../../rewind-limits.ts'

export const SCHEDULE_COLUMNS = `
  s.id, s.project_id AS "projectId", s.job_id AS "jobId", s.name, n.version, s.spec,
  n.nominal_at AS "nextNominalAt", n.look_at AS "checkAt", n.last_nominal_at AS "lastNominalAt",
  n.open_runs AS "openRuns", s.skip_nominal_at AS "skipNominalAt", s.paused_at AS "pausedAt",
  s.paused_until AS "pausedUntil", s.paused_reason AS "pausedReason",
  s.paused_by_job AS "pausedByJob", s.resumed_at AS "resumedAt", s.error,
  s.created_at AS "createdAt", s.created_by AS "createdBy", s.updated_at AS "updatedAt",
  s.updated_by AS "updatedBy"`

export type ScheduleRow = Omit<ScheduleRecord, 'next' | 'openRuns' | 'pause'> & {
  readonly nextNominalAt: number | null
  readonly checkAt: number | null
  readonly openRuns: number[] | null
  readonly pausedAt: number | null
  readonly pausedUntil: number | null
  readonly pausedReason: string | null
  readonly pausedByJob: boolean
  readonly resumedAt: number | null
}

export function toSchedule(row: ScheduleRow): ScheduleRecord {
  const { nextNominalAt, checkAt, openRuns, ...rest } = row
  const { pausedAt, pausedUntil, pausedReason, pausedByJob, resumedAt, ...same } = rest
  return {
    ...same,
    next: { nominalAt: nextNominalAt, checkAt },
    skipNominalAt: pendingSkip(row.skipNominalAt, nextNominalAt),
    openRuns: openRuns ?? [],
    pause:
      pausedAt === null
        ? null
        : { at: pausedAt, until: pausedUntil, reason: pausedReason, byJob: pausedByJob, resumedAt },
  }
}
