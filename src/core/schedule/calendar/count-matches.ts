import { DAY_SECONDS, firstDayOf, monthOf, weekdayOf } from './dates.ts'
import { daysIn } from './month-days.ts'
import { nextMatch, type SearchBudget } from './next-match.ts'
import type { CalendarPlan } from './plan.ts'

const DAY_MINUTES = 1_440

/** The minutes of a day with matching seconds, and the number of these seconds. */
export interface MinutesOfDay {
  readonly minutes: Uint16Array
  readonly seconds: Uint8Array
}

export function minutesOfDay({ times }: CalendarPlan): MinutesOfDay {
  const counts = new Map<number, number>()
  for (const { hours, minutes, seconds } of times) {
    const each = bitsIn(seconds[0]) + bitsIn(seconds[1])
    for (let minute = 0; minute < DAY_MINUTES; minute++) {
      const isHour = hours & (1 << Math.floor(minute / 60))
      const within = minute % 60
      const half = within < 30 ? minutes[0] & (1 << within) : minutes[1] & (1 << (within - 30))
      if (isHour && half) counts.set(minute, (counts.get(minute) ?? 0) + each)
    }
  }
  const ascending = [...counts].toSorted(([a], [b]) => a - b)
  return {
    minutes: Uint16Array.from(ascending, ([minute]) => minute),
    seconds: Uint8Array.from(ascending, ([, count]) => count),
  }
}

/** The target of counts: the local minute `shift`, counted from 1970, is the first of `fires`. */
export interface LocalCounts {
  readonly fires: Uint8Array
  readonly shift: number
}

/** Counts the matching local seconds in [from, to), ignoring clock changes. */
export function countMatches(
  plan: CalendarPlan,
  { minutes, seconds }: MinutesOfDay,
  from: number,
  to: number,
  counts: LocalCounts,
): void {
  // Minutes that are only partly in the range are walked through; there are at most two.
  const firstWhole = Math.ceil(from / 60)
  const lastWhole = Math.floor(to / 60)
  if (firstWhole > lastWhole) return walk(plan, from, to, counts)
  walk(plan, from, firstWhole * 60, counts)
  const { fires, shift } = counts
  eachDay(
    plan,
    Math.floor(firstWhole / DAY_MINUTES),
    Math.floor(lastWhole / DAY_MINUTES),
    (day) => {
      const midnight = day * DAY_MINUTES
      const first = indexFrom(minutes, firstWhole - midnight)
      const end = indexFrom(minutes, lastWhole - midnight)
      for (let index = first; index < end; index++) {
        const place = midnight + (minutes[index] as number) - shift
        fires[place] = (fires[place] as number) + (seconds[index] as number)
      }
    },
  )
  walk(plan, lastWhole * 60, to, counts)
}

/** The index of the first minute at or after `minute` in ascending minutes. */
function indexFrom(minutes: Uint16Array, minute: number): number {
  if (minute <= 0) return 0
  if (minute >= DAY_MINUTES) return minutes.length
  const index = minutes.findIndex((one) => one >= minute)
  return index < 0 ? minutes.length : index
}

function walk(plan: CalendarPlan, from: number, to: number, { fires, shift }: LocalCounts): void {
  const patience: SearchBudget = { steps: DAY_SECONDS }
  for (let at = from; at < to; at++) {
    at = nextMatch(plan, at, to, patience)
    const place = Math.floor(at / 60) - shift
    if (at < to) fires[place] = (fires[place] as number) + 1
  }
}

/** Visits the matching days from `first` to `last`. */
function eachDay(
  { days }: CalendarPlan,
  first: number,
  last: number,
  visit: (day: number) => void,
): void {
  for (let month = monthOf(first); firstDayOf(month) <= last; month++) {
    if (!(days.months & (1 << (month % 12)))) continue
    if (days.years && !days.years.includes(Math.floor(month / 12))) continue
    const start = firstDayOf(month)
    const length = firstDayOf(month + 1) - start
    const matching = daysIn(days, { length, firstWeekday: weekdayOf(start) })
    for (let date = 0; date < length; date++) {
      const day = start + date
      if (matching & (1 << date) && day >= first && day <= last) visit(day)
    }
  }
}

function bitsIn(bits: number): number {
  let count = 0
  for (let left = bits; left !== 0; left &= left - 1) count++
  return count
}
