import type { OccurrenceOutcome, OccurrenceReason } from '../../core/schedule/firing/occurrence.ts'
import type { TimeToSettle } from '../../core/schedule/firing/settle-schedule.ts'
import type { Overlap } from '../../core/schedule/firing/overlap.ts'
import type { AuditEntry } from './audit.ts'
import type { Expectation } from './expectations.ts'
import type { NewRun } from './tick.ts'

/**
 * Schedules: when jobs run automatically. The store does not interpret their rules. The caller says
 * which nominal time comes next, and `fire` advances from exactly that time or not at all.
 */
export interface ScheduleStore {
  /**
   * Creates or changes a schedule. With `expect`, only that version is changed (0: only created).
   * Times that came due under the old rule without an outcome are recorded as skipped. `full`: the
   * job has `maxSchedules` of them.
   */
  putSchedule(input: PutScheduleInput & { readonly audit: AuditEntry }): Promise<PutScheduleResult>
  /**
   * The schedule fires nothing until it is resumed, or until `until`. Times that come due meanwhile
   * stay known.
   */
  pauseSchedule(input: {
    projectId: number
    id: number
    until: number | null
    reason: string | null
    audit: AuditEntry
  }): Promise<boolean>
  /**
   * The schedule is due at once: the node that fires it decides what happens to the times of the
   * pause. `held`: its job is paused, and the schedule resumes with the job. `running`: it was not
   * paused.
   */
  resumeSchedule(input: {
    projectId: number
    id: number
    audit: AuditEntry
  }): Promise<'resumed' | 'held' | 'running' | 'unknown'>
  /** Marks the next time to be skipped. Null when there is none, or no such schedule. */
  skipNext(input: { projectId: number; id: number; audit: AuditEntry }): Promise<number | null>
  /**
   * Deletes the schedule; its occurrences can still be read. With `expect`, only that version is
   * deleted.
   */
  deleteSchedule(input: {
    projectId: number
    id: number
    expect?: number | null
    audit: AuditEntry
  }): Promise<'deleted' | 'unknown' | 'conflict'>
  /** The rule cannot be evaluated at present; a node checks again at `checkAt`. */
  failSchedule(input: {
    id: number
    version: number
    error: string
    checkAt: number
  }): Promise<boolean>

  /**
   * Schedules with any time ahead of the clock, by id above `after`: what a clock that was set back
   * left behind.
   */
  schedulesAhead(input: { after: number; limit: number }): Promise<readonly ScheduleRecord[]>
  /**
   * The clock was set back. Occurrences of times that have not come are void and stored separately; those
   * times may get another outcome. A schedule that has changed since it was read is left alone.
   * `now` is the time for which the node computed the next times. Returns how many were rewound.
   */
  rewindSchedules(commands: readonly RewindCommand[], now: number): Promise<number>
  /**
   * The same for times that the store computed from a time that has not come: retries, checks,
   * expiries.
   */
  rewindTimers(): Promise<void>

  /** Each command is applied completely or not at all, and all of them in one transaction. */
  fire(batch: FireBatch): Promise<FireResult>

  /**
   * Schedules that a node has to check by `until`, the earliest first, after a cursor in that
   * order.
   */
  dueSchedules(input: {
    after: DueCursor | null
    until: number
    limit: number
  }): Promise<readonly ScheduleRecord[]>
  findSchedules(ids: readonly number[]): Promise<readonly ScheduleRecord[]>
  findSchedule(input: { jobId: number; name: string }): Promise<ScheduleRecord | null>
  /** By id above `after`; of one job, or with null of the whole project. */
  listSchedules(input: {
    projectId: number
    jobId: number | null
    after: number
    limit: number
  }): Promise<readonly ScheduleRecord[]>
  /**
   * The schedules that created these runs and wait for them to end before their next time is known.
   */
  schedulesFollowing(runIds: readonly number[]): Promise<readonly number[]>
  /** The incarnations of live nodes. */
  liveNodes(): Promise<readonly number[]>

  /** Outcomes of the times of a schedule, in order: all records that overlap [from, until]. */
  occurrences(input: {
    scheduleId: number
    from: number
    until: number
    limit: number
  }): Promise<readonly OccurrenceRecord[]>
  /** The time a run was created for, if a schedule created it. */
  occurrenceOf(input: { runId: number }): Promise<OccurrenceRecord | null>
  /** Outcomes other than a plain firing in a project, the latest first, before a record. */
  unusualOccurrences(input: {
    projectId: number
    before: OccurrenceKey | null
    limit: number
  }): Promise<readonly OccurrenceRecord[]>
  /** How long the last successful runs of schedules took, among the `each` latest times. */
  pastDurations(input: {
    scheduleIds: readonly number[]
    each: number
  }): Promise<readonly PastDuration[]>
  /**
   * Deletes records from before this id, and schedules that were deleted before it, in bounded
   * batches.
   */
  pruneOccurrences(input: { before: number; limit: number }): Promise<{ more: boolean }>
}

export interface RewindCommand {
  readonly id: number
  /** Applied only if the schedule still has this version. */
  readonly version: number
  readonly nominalAt: number | null
  readonly lastNominalAt: number | null
  readonly next: NextCheck
}

export interface PastDuration {
  readonly scheduleId: number
  /** From the start of the attempt that succeeded to its end. */
  readonly ms: number
}

export interface PutScheduleInput {
  /** Used if the schedule is new. */
  readonly id: number
  readonly projectId: number
  readonly jobId: number
  readonly name: string
  /** JSON text, opaque to the store. */
  readonly spec: string
  readonly next: NextCheck
  readonly expect: number | null
  readonly maxSchedules: number
}

export type PutScheduleResult =
  | { readonly kind: 'created' | 'changed' | 'same'; readonly id: number; readonly version: number }
  | { readonly kind: 'conflict'; readonly version: number }
  /**
   * The next time is not after the last one that fired: the schedule has fired since, or a clock
   * has changed.
   */
  | { readonly kind: 'overtaken'; readonly lastNominalAt: number }
  | { readonly kind: 'full' }

/** Changes to the schedules of a job, all or nothing, decided on the schedules in `seen`. */
export interface ScheduleRevision {
  /**
   * All schedules of the job. The revision no longer holds once any of them was changed by a user.
   */
  readonly seen: readonly Pick<ScheduleRecord, 'id' | 'version'>[]
  /** An id from `seen` changes that schedule; another id creates one. */
  readonly puts: readonly SchedulePut[]
  readonly removes: readonly { readonly id: number; readonly audit: AuditEntry }[]
}

export interface SchedulePut extends Pick<PutScheduleInput, 'id' | 'name' | 'spec' | 'next'> {
  readonly audit: AuditEntry
}

/**
 * The next nominal time without an outcome, and when a node has to check the schedule: when that
 * time fires, or earlier, to see whether the run it follows has ended. Null: never again.
 */
export interface NextCheck {
  readonly nominalAt: number | null
  readonly checkAt: number | null
}

export interface DueCursor {
  readonly checkAt: number
  readonly id: number
}

export interface ScheduleRecord {
  readonly id: number
  readonly projectId: number
  readonly jobId: number
  readonly name: string
  /** Grows with every change by a user, never by firing. */
  readonly version: number
  readonly spec: string
  readonly next: NextCheck
  readonly lastNominalAt: number | null
  /** Its runs that had not ended when it last fired; empty if they are not tracked. */
  readonly openRuns: readonly number[]
  readonly skipNominalAt: number | null
  readonly pause: SchedulePause | null
  readonly error: string | null
  readonly createdAt: number
  readonly createdBy: number | null
  readonly updatedAt: number
  readonly updatedBy: number | null
}

export interface SchedulePause {
  readonly at: number
  readonly until: number | null
  readonly reason: string | null
  /** Because its job is paused. */
  readonly byJob: boolean
  /** When the pause ended; the schedule has not fired since. */
  readonly resumedAt: number | null
}

export interface FireBatch {
  readonly node: number
  /**
   * Commands are decided by a node's estimate of the store's clock. If the clock is outside these
   * times, one of the two was set or stood still, and nothing is done.
   */
  readonly validFrom: number
  readonly validUntil: number
  /**
   * The node knows that the store's clock is off and fires by its own time. Otherwise a clock that
   * differs from what the node expects makes the batch `outdated`: a node that has not noticed a
   * jump must fire neither by its old estimate nor by the jumped clock.
   */
  readonly isClockOff?: boolean
  /**
   * A time in the future, by at most `AHEAD_MS`: the batch acts as of then. Commands whose outcome
   * cannot change until then are done now, the others are `early`. The runs must not be announced
   * before that time. Null: now.
   */
  readonly aheadTo: number | null
  readonly commands: readonly FireCommand[]
}

export interface FireCommand {
  readonly id: number
  /** Applied only if the schedule still has this version. */
  readonly version: number
  readonly nominalAt: number | null
  /** In ascending order. */
  readonly settled: readonly SettledTime[]
  readonly next: NextCheck
  readonly overlap: Overlap
  /** Whether open runs of the schedule are tracked: always, where overlap matters. */
  readonly tracksOpenRuns: boolean
}

/**
 * The gates of a run include the one that lets one run of this schedule run at a time, where the
 * overlap policy requires that.
 */
export type SettledTime = TimeToSettle<NewRun, Expectation>

export interface FireResult {
  /** The time the batch acted by: the store's clock, or `aheadTo`. */
  readonly now: number
  /**
   * Milliseconds from the commit until that time; negative if the time came first. Never too small.
   */
  readonly aheadMs: number
  readonly verdicts: readonly FireVerdict[]
  /** Runs that went to the sessions reserved for them; runs that had to wait did not. */
  readonly started: readonly number[]
  /** Lanes that received ready runs. */
  readonly lanes: readonly number[]
  /** Runs that were cancelled, or marked for it, because other runs replace them. */
  readonly cancelled: readonly number[]
}

/**
 * `lost`: the schedule has changed, or another node is firing it. `early`: it is not due yet, or it
 * will be but its outcome is not certain before; a schedule that waits for its run to end is never
 * certain. `outdated`: the batch came at another time than it was meant for.
 */
export type FireVerdict =
  | {
      readonly kind: 'done'
      /** Outcomes of the times that were planned as runs, in order. */
      readonly outcomes: readonly OccurrenceOutcome[]
      readonly openRuns: readonly number[]
    }
  | { readonly kind: 'lost' | 'early' | 'outdated' }

export interface OccurrenceKey {
  readonly id: number
  readonly scheduleId: number
  readonly nominalAt: number
}

/** One time, or a range of times with the same outcome. */
export interface OccurrenceRecord extends OccurrenceKey {
  /** The id of its run, or an id of the moment when the record was written. */
  readonly id: number
  readonly projectId: number
  /** Version of the schedule. */
  readonly version: number
  /** Equals `nominalAt` for a single time. */
  readonly untilAt: number
  /** Null: not counted. */
  readonly count: number | null
  readonly outcome: OccurrenceOutcome
  readonly reason: OccurrenceReason | null
  readonly detail: string | null
  /** The run created for it. */
  readonly runId: number | null
  /** The run it waited for, yielded to, was merged with or replaced. */
  readonly otherRunId: number | null
  readonly at: number
}
