import type { Outcome, Reason } from '../firing/occurrence.ts'
import type { LapseKind } from '../../expectation/violation.ts'
import type { ScheduleDefinition } from './schedule-definition.ts'

/** Schedules as they travel. A field is only ever added. */

/**
 * `active`: it fires. `paused`: it does not, for now. `ended`: it has no time to come any more. `error`:
 * its rule cannot be read on this server.
 */
export const SCHEDULE_STATES = ['active', 'paused', 'ended', 'error'] as const
export type ScheduleState = (typeof SCHEDULE_STATES)[number]

export interface WireSchedule {
  readonly id: string
  readonly job: string
  /** Unique within its job. */
  readonly name: string
  readonly version: number
  /** Everything it says, defaults too. */
  readonly definition: ScheduleDefinition
  /** When it fires, for people. */
  readonly words: string
  readonly state: ScheduleState
  /** The next time that shall become a run. */
  readonly next: string | null
  /** The last time anything became of. */
  readonly last: string | null
  /** A time to come that somebody asked to skip. */
  readonly skipping: string | null
  readonly paused: {
    readonly since: string
    readonly until: string | null
    readonly reason: string | null
    /** Because its job is. */
    readonly by_job: boolean
  } | null
  readonly error: string | null
  /** It stands in the definition of its job. */
  readonly declared: boolean
  readonly updated_at: string
  readonly updated_by: string
}

/** What became of a time, or what will. `backfilled`: nobody knew of it when it came, and it has a run since. */
export const SHOWN_OUTCOMES = [
  ...(['fired', 'delayed', 'blocked', 'skipped', 'merged', 'missed'] as const),
  ...(['due', 'planned', 'backfilled'] as const),
] as const satisfies readonly (Outcome | 'due' | 'planned' | 'backfilled')[]

/** One time of a schedule, or a range of them that all went the same way. */
export interface WireOccurrence {
  readonly nominal_at: string
  /** The end of the range; the same as `nominal_at` for a single time. */
  readonly until: string
  /** How many times; null for more than anybody counted. */
  readonly count: number | null
  readonly outcome: (typeof SHOWN_OUTCOMES)[number]
  /** Why it is not simply `fired`; for one to come, what will keep it from firing. */
  readonly reason: Reason | null
  readonly detail: string | null
  /** The run it became. */
  readonly run: string | null
  readonly run_state: string | null
  /** The run it waited for, gave way to, was merged with or replaced. */
  readonly other_run: string | null
  /** How long after it should have the run was made. */
  readonly late_ms: number | null
  readonly started_at: string | null
  readonly finished_at: string | null
  /** Its run took longer than `expect`, or had not ended by the `deadline`; null if neither is known. */
  readonly slow: boolean | null
  readonly overdue: boolean | null
  /** What did not come true of what is expected of its run. */
  readonly lapses: readonly WireLapse[]
  /** Runs that backfills made for it since, the earliest time first; of a range, some of them. */
  readonly backfills: readonly WireBackfilledRun[]
}

export interface WireBackfilledRun {
  readonly nominal_at: string
  readonly run: string
  readonly run_state: string | null
  readonly backfill: string
}

export interface WireLapse {
  readonly kind: LapseKind
  /** When it should have started, or ended; of an empty one, when it did. */
  readonly due_at: string
  readonly noticed_at: string
}

export interface WirePlannedTime {
  readonly at: string
  /** The same on the clocks of its zone. */
  readonly local: string
}

export const CLOCK_EFFECTS = ['none', 'moved', 'left_out', 'once', 'twice'] as const

/** A change of the clocks, and what it does to a rule. */
export interface WireClockChange {
  readonly at: string
  /** `+02:00` and what comes after it. */
  readonly from_offset: string
  readonly to_offset: string
  readonly effect: (typeof CLOCK_EFFECTS)[number]
  readonly sentence: string
  /** When it fires because of it. */
  readonly fires: readonly WirePlannedTime[]
}

export interface WirePreview {
  readonly words: string
  readonly definition: ScheduleDefinition
  readonly next: readonly WirePlannedTime[]
  /** What clocks that change do to it in the next year. */
  readonly clock_changes: readonly WireClockChange[]
}

/** A time at which something fires. */
export interface WireNext extends WirePlannedTime {
  readonly job: string
  readonly schedule: string
  readonly words: string
}

/** What fires next. */
export interface WireNextTimes {
  readonly data: readonly WireNext[]
  /** False if there are more schedules than one answer looks through: then something may come earlier. */
  readonly complete: boolean
}

export interface WireAwaySchedule {
  readonly id: string
  /** Null if it was deleted since. */
  readonly job: string | null
  readonly name: string | null
  readonly missed: number
  readonly merged: number
  readonly skipped: number
  readonly late: number
  readonly made_up: number
  readonly blocked: number
  /** Why, and how many times. */
  readonly reasons: Readonly<Partial<Record<Reason, number>>>
  readonly first_at: string
  readonly last_at: string
}

/** What did not simply fire since a time: for those who were away, or whose servers were. */
export interface WireAway {
  readonly since: string
  readonly until: string
  /** False if there was more than one answer holds: then it is about the latest part. */
  readonly complete: boolean
  readonly schedules: readonly WireAwaySchedule[]
}

/** For programs: what a schedule does, or what keeps it. A code is only ever added. */
export const SCHEDULE_WHY_CODES = [
  ...(['fires', 'skips_next', 'follows_run', 'due', 'paused', 'job_paused', 'ended'] as const),
  ...(['rule_unreadable', 'out_of_touch'] as const),
] as const

export interface WireScheduleWhy {
  readonly job: string
  readonly schedule: string
  readonly state: ScheduleState
  readonly code: (typeof SCHEDULE_WHY_CODES)[number]
  readonly sentence: string
  readonly details: readonly string[]
  readonly fixes: readonly string[]
}
