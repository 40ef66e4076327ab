import type { BackfillState } from '../../core/schedule/backfill/backfill.ts'
import type { AuditEntry } from './audit.ts'
import type { NewRun } from './tick.ts'

/** Past times of schedules that somebody wants to become runs after all. */
export interface BackfillStore {
  addBackfill(input: {
    id: number
    projectId: number
    scheduleId: number
    /** JSON text, never looked into. */
    spec: string
    audit: AuditEntry
  }): Promise<void>
  findBackfill(input: { projectId: number; id: number }): Promise<BackfillRecord | null>
  /** Newest first, ids below `before`. */
  listBackfills(input: {
    projectId: number
    before: number
    limit: number
  }): Promise<readonly BackfillRecord[]>
  /** Those that somebody has to look at by `until`. */
  openBackfills(input: { until: number; limit: number }): Promise<readonly BackfillRecord[]>
  /**
   * Makes runs for some of its times and moves on, all in one transaction: a time becomes a run of it
   * once, whoever tries and however often. Null if it is no longer as it was.
   */
  moveBackfill(move: BackfillMove): Promise<{ readonly lanes: readonly number[] } | null>
  /** Makes no more runs; those that are there go on. False if it was over, or is not there. */
  cancelBackfill(input: { projectId: number; id: number; audit: AuditEntry }): Promise<boolean>
  /** The runs that backfills made for the times of a schedule, in order. */
  backfilledTimes(input: {
    scheduleId: number
    from: number
    until: number
    limit: number
  }): Promise<readonly BackfilledTime[]>
  /** The time a run was made for, if a backfill made it. */
  backfilledBy(input: {
    runId: number
  }): Promise<(BackfilledTime & { readonly scheduleId: number }) | null>
}

export interface BackfillRecord {
  readonly id: number
  readonly projectId: number
  readonly scheduleId: number
  /** Grows with every change. */
  readonly version: number
  readonly state: BackfillState
  readonly spec: string
  /** The last time it has dealt with. */
  readonly place: number | null
  readonly lookAt: number
  /** Its runs that had not ended when somebody last looked. */
  readonly openRuns: readonly number[]
  /** Times that became runs, and times that need none. */
  readonly made: number
  readonly passed: number
  readonly error: string | null
  readonly createdAt: number
  readonly createdBy: number | null
  readonly finishedAt: number | null
}

export interface BackfillMove {
  readonly node: number
  readonly id: number
  readonly version: number
  readonly place: number | null
  readonly lookAt: number
  readonly openRuns: readonly number[]
  readonly passed: number
  readonly state: Exclude<BackfillState, 'cancelled'>
  readonly error: string | null
  readonly runs: readonly { readonly nominalAt: number; readonly run: NewRun }[]
}

export interface BackfilledTime {
  readonly nominalAt: number
  readonly runId: number
  readonly backfillId: number
}
