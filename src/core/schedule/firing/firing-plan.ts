import {
  type DueTime,
  type Fate,
  type MissedPolicy,
  mostWanted,
  reasonFor,
  sortMissed,
} from './missed.ts'
import { countTimes, newestTimes, type Times } from './newest-times.ts'
import type { Reason } from './occurrence.ts'

/** The part of a rule that firing needs. */
export interface FireTimes extends Times {
  /** How long after its nominal time it fires; the time after it has not come by then. */
  jitterOf(nominalAt: number): number
  /** The next time is counted from the end of the run: there is never more than one to come. */
  readonly afterFinish: number | null
}

export interface ToPlan {
  readonly times: FireTimes
  /** The first time nothing has become of yet. */
  readonly nominalAt: number
  readonly now: number
  readonly missed: MissedPolicy
  /** This one shall not become a run. */
  readonly skipNominalAt: number | null
  /** It was paused up to here. */
  readonly pause: { readonly untilAt: number; readonly reason: Reason } | null
  /** The most runs one plan may ask for. */
  readonly mostRuns: number
}

/** What shall become of times that came due. */
export type PlannedTime =
  | { readonly kind: 'run'; readonly nominalAt: number; readonly late: Reason | null }
  /** No run for any of the times in [nominalAt, untilAt]; null: more than one cares to count. */
  | {
      readonly kind: 'none'
      readonly nominalAt: number
      readonly untilAt: number
      readonly count: number | null
      readonly outcome: 'skipped' | 'missed'
      readonly reason: Reason
    }

export interface Plan {
  /** In ascending order and without gaps: every time from the first to before the next. */
  readonly planned: readonly PlannedTime[]
  readonly next: NextTime
}

/** The next time nothing has become of, and when to look at it: never before it is to fire. */
export interface NextTime {
  readonly nominalAt: number | null
  readonly lookAt: number | null
}

/** More than this late is said so: a node had to take over from another, or all were busy. */
export const LATE_MS = 5_000
/** Times that are missed are told one by one up to this many, beyond as a range. */
const TOLD_ONE_BY_ONE = 100
const COUNTED_UP_TO = 10_000
const NOTHING: NextTime = { nominalAt: null, lookAt: null }

/**
 * Decides what becomes of every time that came due by `now`, oldest first. Bounded for any rule and any
 * absence: what one plan cannot hold is left to the next, which `next` says when to make.
 */
export function planTimes(input: ToPlan): Plan {
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

export function nextFrom(times: FireTimes, nominalAt: number | null): NextTime {
  if (nominalAt === null) return NOTHING
  return { nominalAt, lookAt: fireTime(times, nominalAt).fireAt }
}

/** One that follows the end of the run before: if it becomes no run, the next is counted from now. */
function planOne({ times, now, missed, skipNominalAt }: ToPlan, nominalAt: number): Plan {
  const time = fireTime(times, nominalAt)
  const planned = sortMissed([time], now, missed).map((fate) =>
    fate.reason === null ? asRun(fate, now, skipNominalAt) : one(nominalAt, 'missed', fate.reason),
  )
  const hasRun = planned.some(({ kind }) => kind === 'run')
  return { planned, next: hasRun ? NOTHING : nextFrom(times, times.next(Math.max(now, nominalAt))) }
}

function planAll(input: ToPlan, first: number): Plan {
  const { times, now, missed, skipNominalAt } = input
  const newest = newestTimes(times, first, now, mostWanted(missed) + TOLD_ONE_BY_ONE)
  const due = takeWhile(
    newest.times.map((at) => fireTime(times, at)),
    ({ fireAt }) => fireAt <= now,
  )
  const planned = newest.isCut ? beforeNewest(input, first, newest.times[0] as number) : []
  const fates = sortMissed(due, now, missed)
  let runs = mostAtOnce(fates, input)
  for (const time of fates) {
    if (time.reason !== null) {
      planned.push(one(time.nominalAt, 'missed', time.reason))
      continue
    }
    if (runs === 0) {
      const lookAt = time.isMissed ? now + missed.everyMs : now
      return { planned, next: { nominalAt: time.nominalAt, lookAt } }
    }
    planned.push(asRun(time, now, skipNominalAt))
    runs -= 1
  }
  const last = due.at(-1)?.nominalAt
  // Where the rule has changed under the schedule, with its zone, the first may be no time of it any more.
  const following = last === undefined ? (newest.times[0] ?? times.next(first)) : times.next(last)
  return { planned, next: nextFrom(times, following) }
}

/** Those that are made up for may have to keep a distance. */
function mostAtOnce(fates: readonly Fate[], { missed, mostRuns }: ToPlan): number {
  const isMakingUp = fates.find(({ reason }) => reason === null)?.isMissed
  return missed.everyMs > 0 && isMakingUp ? 1 : mostRuns
}

/** What came due before the newest ones: too old, or too many, as a range of each. */
function beforeNewest(
  { times, now, missed }: ToPlan,
  first: number,
  newest: number,
): PlannedTime[] {
  // Where none is made up for, age makes no difference.
  const edge = missed.kind === 'skip' ? first : now - missed.maxAgeMs
  const ranges = [
    [first, Math.min(edge, newest) - 1],
    [times.next(Math.max(edge, first) - 1) ?? newest, newest - 1],
  ] as const
  return ranges
    .filter(([from, until]) => from <= until)
    .map(([from, until]) => {
      const reason = reasonFor({ fireAt: from }, now, missed)
      return none(times, from, until, { outcome: 'missed', reason })
    })
}

function none(
  times: FireTimes,
  nominalAt: number,
  untilAt: number,
  fate: { outcome: 'skipped' | 'missed'; reason: Reason },
): PlannedTime {
  const count =
    times.afterFinish === null ? countTimes(times, nominalAt, untilAt, COUNTED_UP_TO) : 1
  return { kind: 'none', nominalAt, untilAt, count, ...fate }
}

function one(nominalAt: number, outcome: 'skipped' | 'missed', reason: Reason): PlannedTime {
  return { kind: 'none', nominalAt, untilAt: nominalAt, count: 1, outcome, reason }
}

function asRun(
  { nominalAt, fireAt, isMissed }: Fate,
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
