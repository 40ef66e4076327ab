import type { BackfillState } from '../../core/schedule/backfill/backfill.ts'
import type { AuditEntry } from './audit.ts'
import type { NewRun } from './tick.ts'

/** Backfills: past times of schedules that are run after the fact. */
export interface BackfillStore {
  addBackfill(input: {
    id: number
    projectId: number
    scheduleId: number
    /** JSON text, opaque to the store. */
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
  /** Backfills that a node has to check by `until`. */
  openBackfills(input: { until: number; limit: number }): Promise<readonly BackfillRecord[]>
  /**
   * Creates runs for some of the times and advances the backfill, all in one transaction: each time
   * becomes a run of it once, however many nodes try. Null if the backfill has changed since it was
   * read.
   */
  advanceBackfill(move: BackfillTransition): Promise<{ readonly lanes: readonly number[] } | null>
  /** Creates no more runs; existing ones go on. False if it had ended, or does not exist. */
  cancelBackfill(input: { projectId: number; id: number; audit: AuditEntry }): Promise<boolean>
  /** The runs that backfills created for the times of a schedule, in order. */
  backfilledTimes(input: {
    scheduleId: number
    from: number
    until: number
    limit: number
  }): Promise<readonly BackfilledTime[]>
  /** The time a run was created for, if a backfill created it. */
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
  /** The last nominal time it has processed. */
  readonly processedUntil: number | null
  readonly checkAt: number
  /** Its runs that had not ended at the last check. */
  readonly openRuns: readonly number[]
  /** Times that became runs, and times that need none. */
  readonly made: number
  readonly passed: number
  readonly error: string | null
  readonly createdAt: number
  readonly createdBy: number | null
  readonly finishedAt: number | null
}

export interface BackfillTransition {
  readonly node: number
  readonly id: number
  readonly version: number
  readonly processedUntil: number | null
  readonly checkAt: number
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
