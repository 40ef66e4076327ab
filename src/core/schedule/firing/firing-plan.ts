import {
  type DueTime,
  type DueTimeDecision,
  type MissedPolicy,
  maxRunsForMissed,
  missedReason,
  decideDueTimes,
} from './missed.ts'
import { countTimes, newestTimes, type TimeSequence } from './newest-times.ts'
import type { OccurrenceReason } from './occurrence.ts'

/** The part of a rule that firing needs. */
export interface FireTimes extends TimeSequence {
  /** Delay between a nominal time and its firing. It ends before the next nominal time. */
  jitterOf(nominalAt: number): number
  /** For rules that count from the end of the run: the delay. Such a rule has at most one time to come. */
  readonly afterFinish: number | null
}

export interface PlanInput {
  readonly times: FireTimes
  /** The first time without a recorded outcome. */
  readonly nominalAt: number
  readonly now: number
  readonly missed: MissedPolicy
  /** A time that gets no run because a user asked to skip it. */
  readonly skipNominalAt: number | null
  /** The schedule was paused up to this time. */
  readonly pause: { readonly untilAt: number; readonly reason: OccurrenceReason } | null
  /** Maximum number of runs in one plan. */
  readonly maxRuns: number
}

/** The decision about one or more due times. */
export type PlannedTime =
  | { readonly kind: 'run'; readonly nominalAt: number; readonly late: OccurrenceReason | null }
  | TimesWithoutRun

/** No run for any of the times in [nominalAt, untilAt]; `count` is null if there are too many to count. */
export interface TimesWithoutRun {
  readonly kind: 'none'
  readonly nominalAt: number
  readonly untilAt: number
  readonly count: number | null
  readonly outcome: 'skipped' | 'missed'
  readonly reason: OccurrenceReason
}

export interface FiringPlan {
  /** In ascending order and without gaps: every time from the first up to the next. */
  readonly planned: readonly PlannedTime[]
  readonly next: NextFiring
}

/** The next time without an outcome, and when to check it: never before its fire time. */
export interface NextFiring {
  readonly nominalAt: number | null
  readonly checkAt: number | null
}

/** A run later than this is recorded as late: a node took over from another one, or all nodes were busy. */
export const LATE_MS = 5_000
/** Up to this many missed times are listed one by one, older ones as a range. */
const MAX_LISTED = 100
const MAX_COUNTED = 10_000
const NOTHING: NextFiring = { nominalAt: null, checkAt: null }

/**
 * Decides what happens to every time that came due by `now`, oldest first. The work is bounded for any rule and any
 * absence: a plan that reaches its limit leaves the rest to the next plan, and `next` says when to make it.
 */
export function planTimes(input: PlanInput): FiringPlan {
  const { times, now, pause } = input
  const planned: PlannedTime[] = []
  let first: number | null = input.nominalAt
  if (pause && first <= pause.untilAt) {
    const { untilAt, reason } = pause
    planned.push(none(times, first, untilAt, { outcome: 'skipped', reason }))
    first = times.next(untilAt)
  }
  if (first === null) return { planned, next: NOTHING }
  if (fireTime(times, first).fireAt > now) return { planned, next: nextFrom(times, first) }
  const rest = times.afterFinish === null ? planAll(input, first) : planOne(input, first)
  return { planned: [...planned, ...rest.planned], next: rest.next }
}

export function nextFrom(times: FireTimes, nominalAt: number | null): NextFiring {
  if (nominalAt === null) return NOTHING
  return { nominalAt, checkAt: fireTime(times, nominalAt).fireAt }
}

/** For a rule that counts from the end of the run: if the time gets no run, the next one is counted from now. */
function planOne({ times, now, missed, skipNominalAt }: PlanInput, nominalAt: number): FiringPlan {
  const time = fireTime(times, nominalAt)
  const planned = decideDueTimes([time], now, missed).map((decision) =>
    decision.reason === null
      ? asRun(decision, now, skipNominalAt)
      : one(nominalAt, 'missed', decision.reason),
  )
  const hasRun = planned.some(({ kind }) => kind === 'run')
  return { planned, next: hasRun ? NOTHING : nextFrom(times, times.next(Math.max(now, nominalAt))) }
}

function planAll(input: PlanInput, first: number): FiringPlan {
  const { times, now, missed, skipNominalAt } = input
  const newest = newestTimes(times, first, now, maxRunsForMissed(missed) + MAX_LISTED)
  const due = takeWhile(
    newest.times.map((at) => fireTime(times, at)),
    ({ fireAt }) => fireAt <= now,
  )
  const planned = newest.isCut ? beforeNewest(input, first, newest.times[0] as number) : []
  const decisions = decideDueTimes(due, now, missed)
  let runs = maxAtOnce(decisions, input)
  for (const time of decisions) {
    if (time.reason !== null) {
      planned.push(one(time.nominalAt, 'missed', time.reason))
      continue
    }
    if (runs === 0) {
      const checkAt = time.isMissed ? now + missed.everyMs : now
      return { planned, next: { nominalAt: time.nominalAt, checkAt } }
    }
    planned.push(asRun(time, now, skipNominalAt))
    runs -= 1
  }
  const last = due.at(-1)?.nominalAt
  // If the rule changed with the data of its time zone, the stored first time may not be one of its times any more.
  const following = last === undefined ? (newest.times[0] ?? times.next(first)) : times.next(last)
  return { planned, next: nextFrom(times, following) }
}

/** Runs for missed times may need a minimum distance. */
function maxAtOnce(decisions: readonly DueTimeDecision[], { missed, maxRuns }: PlanInput): number {
  const isMakingUp = decisions.find(({ reason }) => reason === null)?.isMissed
  return missed.everyMs > 0 && isMakingUp ? 1 : maxRuns
}

/** The due times before the newest ones, as one range that is too old and one that is too many. */
function beforeNewest(
  { times, now, missed }: PlanInput,
  first: number,
  newest: number,
): PlannedTime[] {
  // With the policy `skip`, age makes no difference.
  const edge = missed.kind === 'skip' ? first : now - missed.maxAgeMs
  const ranges = [
    [first, Math.min(edge, newest) - 1],
    [times.next(Math.max(edge, first) - 1) ?? newest, newest - 1],
  ] as const
  return ranges
    .filter(([from, until]) => from <= until)
    .map(([from, until]) => {
      const reason = missedReason({ fireAt: from }, now, missed)
      return none(times, from, until, { outcome: 'missed', reason })
    })
}

function none(
  times: FireTimes,
  nominalAt: number,
  untilAt: number,
  decision: { outcome: 'skipped' | 'missed'; reason: OccurrenceReason },
): PlannedTime {
  const count = times.afterFinish === null ? countTimes(times, nominalAt, untilAt, MAX_COUNTED) : 1
  return { kind: 'none', nominalAt, untilAt, count, ...decision }
}

function one(
  nominalAt: number,
  outcome: 'skipped' | 'missed',
  reason: OccurrenceReason,
): PlannedTime {
  return { kind: 'none', nominalAt, untilAt: nominalAt, count: 1, outcome, reason }
}

function asRun(
  { nominalAt, fireAt, isMissed }: DueTimeDecision,
  now: number,
  skipNominalAt: number | null,
): PlannedTime {
  if (nominalAt === skipNominalAt) return one(nominalAt, 'skipped', 'asked')
  const late = isMissed ? 'made_up' : now - fireAt > LATE_MS ? 'late' : null
  return { kind: 'run', nominalAt, late }
}

function fireTime(times: FireTimes, nominalAt: number): DueTime {
  return { nominalAt, fireAt: nominalAt + times.jitterOf(nominalAt) }
}

function takeWhile<T>(items: readonly T[], holds: (item: T) => boolean): readonly T[] {
  const end = items.findIndex((item) => !holds(item))
  return end === -1 ? items : items.slice(0, end)
}
