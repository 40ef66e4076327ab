import type { Outcome, Reason } from '../../core/schedule/firing/occurrence.ts'
import type { Overlap } from '../../core/schedule/firing/overlap.ts'
import type { AuditEntry } from './audit.ts'
import type { Expectation } from './expectations.ts'
import type { NewRun } from './tick.ts'

/**
 * Schedules: when jobs run by themselves. What their rules mean is not known here. Whoever knows says
 * which time comes next, and `fire` moves on from exactly that time or not at all.
 */
export interface ScheduleStore {
  /**
   * Creates a schedule or changes what it says. With `expect`, only that version is changed (0: only
   * created). Times that came due under what it said before and became nothing are written down as
   * skipped. `full`: the job has `most` of them.
   */
  putSchedule(input: ScheduleWish & { readonly audit: AuditEntry }): Promise<ScheduleFate>
  /** Nothing fires until it is resumed, or until then. What comes due meanwhile stays known. */
  pauseSchedule(input: {
    projectId: number
    id: number
    until: number | null
    reason: string | null
    audit: AuditEntry
  }): Promise<boolean>
  /**
   * It is due now: whoever fires it says what becomes of the times of the pause. `held`: its job is
   * paused, and it goes on with that. `running`: it was not paused.
   */
  resumeSchedule(input: {
    projectId: number
    id: number
    audit: AuditEntry
  }): Promise<'resumed' | 'held' | 'running' | 'unknown'>
  /** The time that comes next shall become no run. Null when there is none, or no such schedule. */
  skipNext(input: { projectId: number; id: number; audit: AuditEntry }): Promise<number | null>
  /** What became of its times can still be read. With `expect`, only that version is deleted. */
  deleteSchedule(input: {
    projectId: number
    id: number
    expect?: number | null
    audit: AuditEntry
  }): Promise<'deleted' | 'unknown' | 'conflict'>
  /** Its rule cannot be read here and now; somebody looks again at `lookAt`. */
  failSchedule(input: {
    id: number
    version: number
    error: string
    lookAt: number
  }): Promise<boolean>

  /** All or nothing for each command, and all of them in one transaction. */
  fire(batch: FireBatch): Promise<FireResult>

  /** Those somebody has to look at by `until`, the earliest first, after a place in that order. */
  dueSchedules(input: {
    after: DuePlace | null
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
  /** The schedules that made these runs and wait for them to end before their next time is known. */
  schedulesFollowing(runIds: readonly number[]): Promise<readonly number[]>
  /** The incarnations of nodes that are alive. */
  liveNodes(): Promise<readonly number[]>

  /** What became of the times of a schedule, in their order: all records that touch [from, until]. */
  occurrences(input: {
    scheduleId: number
    from: number
    until: number
    limit: number
  }): Promise<readonly OccurrenceRecord[]>
  /** The time a run was made for, if it was made by a schedule. */
  occurrenceOf(input: { runId: number }): Promise<OccurrenceRecord | null>
  /** What did not simply fire in a project, the latest first, before a record. */
  unusualOccurrences(input: {
    projectId: number
    before: OccurrenceKey | null
    limit: number
  }): Promise<readonly OccurrenceRecord[]>
  /** How long the last runs of schedules took that succeeded, of the `each` times that came last. */
  pastDurations(input: {
    scheduleIds: readonly number[]
    each: number
  }): Promise<readonly PastDuration[]>
  /** Forgets what was written down before this id, and schedules deleted before, a bite at a time. */
  pruneOccurrences(input: { before: number; limit: number }): Promise<{ more: boolean }>
}

export interface PastDuration {
  readonly scheduleId: number
  /** From the start of the attempt that succeeded to its end. */
  readonly ms: number
}

export interface ScheduleWish {
  /** For a new one. */
  readonly id: number
  readonly projectId: number
  readonly jobId: number
  readonly name: string
  /** JSON text, never looked into. */
  readonly spec: string
  readonly next: NextLook
  readonly expect: number | null
  readonly most: number
}

export type ScheduleFate =
  | { readonly kind: 'created' | 'changed' | 'same'; readonly id: number; readonly version: number }
  | { readonly kind: 'conflict'; readonly version: number }
  /** The next time is not after the last one it fired: that has changed, or a clock has. */
  | { readonly kind: 'overtaken'; readonly lastNominalAt: number }
  | { readonly kind: 'full' }

/** What becomes of the schedules of a job, all or nothing, decided by what they were. */
export interface ScheduleRevision {
  /** All that the job has. It no longer holds once people have changed any of them. */
  readonly seen: readonly Pick<ScheduleRecord, 'id' | 'version'>[]
  /** With the id of one that was seen, that is changed; with another, one is created. */
  readonly puts: readonly SchedulePut[]
  readonly removes: readonly { readonly id: number; readonly audit: AuditEntry }[]
}

export interface SchedulePut extends Pick<ScheduleWish, 'id' | 'name' | 'spec' | 'next'> {
  readonly audit: AuditEntry
}

/**
 * The next time nothing has become of, and when somebody has to look at the schedule: when that time
 * is to fire, or earlier, to see whether the run it follows has ended. Null: never again.
 */
export interface NextLook {
  readonly nominalAt: number | null
  readonly lookAt: number | null
}

export interface DuePlace {
  readonly lookAt: number
  readonly id: number
}

export interface ScheduleRecord {
  readonly id: number
  readonly projectId: number
  readonly jobId: number
  readonly name: string
  /** Grows with everything people do to it, never by firing. */
  readonly version: number
  readonly spec: string
  readonly next: NextLook
  readonly lastNominalAt: number | null
  /** Its runs that had not ended when it last fired; empty if nobody asked to remember them. */
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
  /** Because its job is. */
  readonly byJob: boolean
  /** It is over since then; it only has not fired yet. */
  readonly resumedAt: number | null
}

export interface FireBatch {
  readonly node: number
  /**
   * What is asked for was decided by somebody's idea of the store's clock. Outside these times by the
   * clock itself, one of the two has been set or stood still, and nothing is done.
   */
  readonly validFrom: number
  readonly validUntil: number
  /**
   * A time that is yet to come, by `AHEAD_MS` at most: everything counts as of then. What comes out the
   * same is done now, and what may not is `early`. Nobody may be told of the runs before. Null: now.
   */
  readonly aheadTo: number | null
  readonly commands: readonly FireCommand[]
}

export interface FireCommand {
  readonly id: number
  /** Nothing happens unless the schedule is as it was when this was decided. */
  readonly version: number
  readonly nominalAt: number | null
  /** In ascending order. */
  readonly settled: readonly SettledTime[]
  readonly next: NextLook
  readonly overlap: Overlap
  /** Whether it remembers which of its runs are open: always, where overlap matters. */
  readonly remembers: boolean
}

export type SettledTime =
  | {
      readonly kind: 'run'
      readonly nominalAt: number
      /** Its gates include the one that keeps runs of this schedule apart, where overlap asks for it. */
      readonly run: NewRun
      readonly late: Reason | null
      /** What is expected of the run, should there be one. */
      readonly expected?: Expectation | undefined
    }
  | {
      readonly kind: 'none'
      readonly nominalAt: number
      readonly untilAt: number
      readonly count: number | null
      readonly outcome: 'skipped' | 'missed'
      readonly reason: Reason
      readonly detail?: string | undefined
    }

export interface FireResult {
  /** The time as of which it was done: the store's clock, or that of the batch. */
  readonly now: number
  /** How long it was still to that time when it was durable; less than nothing if that came before. Never too little. */
  readonly aheadMs: number
  readonly verdicts: readonly FireVerdict[]
  /** Runs that went to the sessions they were promised to; those that had to wait did not. */
  readonly started: readonly number[]
  /** Lanes that got ready runs. */
  readonly lanes: readonly number[]
  /** Runs that were cancelled or marked so because others replace them. */
  readonly cancelled: readonly number[]
}

/**
 * `lost`: the schedule is no longer as it was, or somebody else is at it. `early`: it is not due yet, or
 * will be, but what becomes of it is not sure before; one that waits for its run to end never is.
 * `outdated`: the batch came at another time than it was meant for.
 */
export type FireVerdict =
  | {
      readonly kind: 'done'
      /** Of the times that were to become runs, in order. */
      readonly outcomes: readonly Outcome[]
      readonly openRuns: readonly number[]
    }
  | { readonly kind: 'lost' | 'early' | 'outdated' }

export interface OccurrenceKey {
  readonly id: number
  readonly scheduleId: number
  readonly nominalAt: number
}

/** One time, or a range of them that all went the same way. */
export interface OccurrenceRecord extends OccurrenceKey {
  /** The id of its run, or one of the moment when it was written. */
  readonly id: number
  readonly projectId: number
  /** Of the schedule. */
  readonly version: number
  /** The same as `nominalAt` for a single one. */
  readonly untilAt: number
  /** Null: not counted. */
  readonly count: number | null
  readonly outcome: Outcome
  readonly reason: Reason | null
  readonly detail: string | null
  /** The run it became. */
  readonly runId: number | null
  /** The run it waited for, gave way to, was merged with or replaced. */
  readonly otherRunId: number | null
  readonly at: number
}
