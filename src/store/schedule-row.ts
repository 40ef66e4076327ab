import type { ScheduleRecord } from './port.ts'
import { pendingSkip } from './rewind-limits.ts'

/** The columns of a schedule, as both stores select them. */
export interface ScheduleRow extends Omit<ScheduleRecord, 'next' | 'openRuns' | 'pause'> {
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

/** The cause that keeps the schedule from firing, if there is one. */
export function pausedBy({
  pausedAt,
  pausedByJob,
  resumedAt,
}: Pick<ScheduleRow, 'pausedAt' | 'resumedAt'> & {
  readonly pausedByJob: boolean | number
}): 'people' | 'job' | null {
  if (pausedAt === null || resumedAt !== null) return null
  return pausedByJob ? 'job' : 'people'
}
