import type { OccurrenceOutcome, OccurrenceReason } from '../firing/occurrence.ts'
import type { ViolationKind } from '../../expectation/violation.ts'
import type { ScheduleDefinition } from './schedule-definition.ts'

/** The API representation of schedules. Fields are only ever added. */

/**
 * `active`: it fires. `paused`: it does not fire for now. `ended`: it has no future times. `error`: this server
 * cannot read its rule.
 */
export const SCHEDULE_STATES = ['active', 'paused', 'ended', 'error'] as const
export type ScheduleState = (typeof SCHEDULE_STATES)[number]

export interface WireSchedule {
  readonly id: string
  readonly job: string
  /** Unique within its job. */
  readonly name: string
  readonly version: number
  /** The complete definition with defaults. */
  readonly definition: ScheduleDefinition
  /** The rule in words. */
  readonly words: string
  readonly state: ScheduleState
  /** The next time that will become a run. */
  readonly next: string | null
  /** The last time with an outcome. */
  readonly last: string | null
  /** The future time that will be skipped by request. */
  readonly skipping: string | null
  readonly paused: {
    readonly since: string
    readonly until: string | null
    readonly reason: string | null
    /** Paused because its job is. */
    readonly by_job: boolean
  } | null
  readonly error: string | null
  /** It is part of the definition of its job. */
  readonly declared: boolean
  readonly updated_at: string
  readonly updated_by: string
}

/**
 * The outcome of a time, or the expected one. `backfilled`: the time was before the schedule existed and got a run
 * later.
 */
export const SHOWN_OUTCOMES = [
  'fired',
  'delayed',
  'blocked',
  'skipped',
  'merged',
  'missed',
  'due',
  'planned',
  'backfilled',
] as const satisfies readonly (OccurrenceOutcome | 'due' | 'planned' | 'backfilled')[]

/** One time of a schedule, or a range of times with the same outcome. */
export interface WireOccurrence {
  readonly nominal_at: string
  /** The end of the range; equal to `nominal_at` for a single time. */
  readonly until: string
  /** Number of times; null if there are too many to count. */
  readonly count: number | null
  readonly outcome: (typeof SHOWN_OUTCOMES)[number]
  /** Why it is not simply `fired`; for a future time, what will prevent it. */
  readonly reason: OccurrenceReason | null
  readonly detail: string | null
  /** The run of this time. */
  readonly run: string | null
  readonly run_state: string | null
  /** The run that it waited for, yielded to, was merged with or replaced. */
  readonly other_run: string | null
  /** How late its run was created. */
  readonly late_ms: number | null
  readonly started_at: string | null
  readonly finished_at: string | null
  /** Its run took longer than `expect`, or had not ended by the `deadline`; null if neither is known. */
  readonly slow: boolean | null
  readonly overdue: boolean | null
  /** The violated expectations about its run. */
  readonly lapses: readonly WireViolation[]
  /** Runs that backfills created for it, earliest time first; for a range, some of them. */
  readonly backfills: readonly WireBackfilledRun[]
}

export interface WireBackfilledRun {
  readonly nominal_at: string
  readonly run: string
  readonly run_state: string | null
  readonly backfill: string
}

export interface WireViolation {
  readonly kind: ViolationKind
  /** When the run should have started or ended; for `empty`, when it ended. */
  readonly due_at: string
  readonly noticed_at: string
}

export interface WirePlannedTime {
  readonly at: string
  /** The same time in the zone of the schedule. */
  readonly local: string
}

export const CLOCK_EFFECTS = ['none', 'moved', 'left_out', 'once', 'twice'] as const

/** A clock change and its effect on a rule. */
export interface WireClockChange {
  readonly at: string
  /** Such as `+02:00`, and the offset afterwards. */
  readonly from_offset: string
  readonly to_offset: string
  readonly effect: (typeof CLOCK_EFFECTS)[number]
  readonly sentence: string
  /** The fire times caused by it. */
  readonly fires: readonly WirePlannedTime[]
}

export interface WirePreview {
  readonly words: string
  readonly definition: ScheduleDefinition
  readonly next: readonly WirePlannedTime[]
  /** The effects of clock changes in the next year. */
  readonly clock_changes: readonly WireClockChange[]
}

/** A fire time of any schedule. */
export interface WireNext extends WirePlannedTime {
  readonly job: string
  readonly schedule: string
  readonly words: string
}

/** The next fire times. */
export interface WireNextTimes {
  readonly data: readonly WireNext[]
  /** False if there are more schedules than one answer covers: an earlier time may be missing. */
  readonly complete: boolean
}

export interface WireAwaySchedule {
  readonly id: string
  /** Null if the schedule was deleted. */
  readonly job: string | null
  readonly name: string | null
  readonly missed: number
  readonly merged: number
  readonly skipped: number
  readonly late: number
  readonly made_up: number
  readonly blocked: number
  /** The reasons and how often each occurred. */
  readonly reasons: Readonly<Partial<Record<OccurrenceReason, number>>>
  readonly first_at: string
  readonly last_at: string
}

/** Times since a moment that did not simply fire, for a summary after an absence or an outage. */
export interface WireAway {
  readonly since: string
  readonly until: string
  /** False if the answer covers only the latest part. */
  readonly complete: boolean
  readonly schedules: readonly WireAwaySchedule[]
}

/** Machine-readable reasons for the state of a schedule. Codes are only ever added. */
export const SCHEDULE_WHY_CODES = [
  'fires',
  'skips_next',
  'follows_run',
  'due',
  'paused',
  'job_paused',
  'ended',
  'rule_unreadable',
  'out_of_touch',
  'clock_held',
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
