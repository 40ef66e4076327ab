import { DAY_SECONDS, firstDayOf, monthOf, weekdayOf } from './dates.ts'
import { daysIn } from './month-days.ts'
import type { Days, CalendarPlan, TimeCombination } from './plan.ts'

/** No match. It is larger than every time, so the smaller of two results is the right one. */
export const NONE = Infinity

/** The remaining steps of a search; when they are used up, the search finds nothing. */
export interface SearchBudget {
  steps: number
}

/** The first matching local second in [from, to), ignoring clock changes. */
export function nextMatch(
  plan: CalendarPlan,
  from: number,
  to: number,
  budget: SearchBudget,
): number {
  let day = Math.floor(from / DAY_SECONDS)
  const lastDay = Math.ceil(to / DAY_SECONDS) - 1
  if (nextDay(plan.days, day, day, budget) === day) {
    const time = nextTime(plan.times, from - day * DAY_SECONDS)
    if (time !== NONE) return within(day * DAY_SECONDS + time, to)
  }
  day = nextDay(plan.days, day + 1, lastDay, budget)
  if (day === NONE) return NONE
  return within(day * DAY_SECONDS + nextTime(plan.times, 0), to)
}

function within(second: number, to: number): number {
  return second < to ? second : NONE
}

function nextDay(days: Days, from: number, last: number, budget: SearchBudget): number {
  if (from > last) return NONE
  let month = monthOf(from)
  let first = firstDayOf(month)
  // Clears the days of the month before the start.
  let open = -1 << (from - first)
  while (first <= last && budget.steps-- > 0) {
    const skipped = firstMonthIn(days.years, month)
    if (skipped === NONE) return NONE
    if (skipped !== month) {
      month = skipped
      first = firstDayOf(month)
      open = -1
      continue
    }
    const following = firstDayOf(month + 1)
    if (days.months & (1 << (month % 12))) {
      const matching =
        daysIn(days, { length: following - first, firstWeekday: weekdayOf(first) }) & open
      if (matching !== 0) {
        const day = first + lowestBit(matching)
        return day <= last ? day : NONE
      }
    }
    month++
    first = following
    open = -1
  }
  return NONE
}

/** The month itself, or the next January of a year in the rule. */
function firstMonthIn(years: Days['years'], month: number): number {
  if (years === null) return month
  const year = Math.floor(month / 12)
  const next = years.find((one) => one >= year)
  if (next === year) return month
  return next === undefined ? NONE : next * 12
}

function nextTime(times: readonly TimeCombination[], from: number): number {
  let best = NONE
  for (const combination of times) best = Math.min(best, nextIn(combination, from))
  return best
}

function nextIn({ hours, minutes, seconds }: TimeCombination, from: number): number {
  const hour = Math.floor(from / 3_600)
  const minute = Math.floor(from / 60) % 60
  if (hours & (1 << hour)) {
    if (has(minutes, minute)) {
      const second = nextOf(seconds, from % 60)
      if (second !== NONE) return from - (from % 60) + second
    }
    const later = nextOf(minutes, minute + 1)
    if (later !== NONE) return hour * 3_600 + later * 60 + nextOf(seconds, 0)
  }
  const laterHours = hours & (-2 << hour)
  if (laterHours === 0) return NONE
  return lowestBit(laterHours) * 3_600 + nextOf(minutes, 0) * 60 + nextOf(seconds, 0)
}

function has([low, high]: readonly [number, number], value: number): boolean {
  return (value < 30 ? low & (1 << value) : high & (1 << (value - 30))) !== 0
}

function nextOf([low, high]: readonly [number, number], from: number): number {
  const lows = from < 30 ? low & (-1 << from) : 0
  if (lows !== 0) return lowestBit(lows)
  const highs = from <= 30 ? high : from < 60 ? high & (-1 << (from - 30)) : 0
  return highs === 0 ? NONE : 30 + lowestBit(highs)
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits)
}
