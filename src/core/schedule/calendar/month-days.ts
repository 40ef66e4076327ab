import { firstDayOf, weekdayOf } from './dates.ts'
import type { Days, DaySpecial } from './plan.ts'

/** The length of a month and the weekday of its first day decide which days match. */
export interface Month {
  readonly length: number
  readonly firstWeekday: number
}

/** The matching days of a month as bits; bit 0 is the first. */
export function daysIn(days: Days, { length, firstWeekday }: Month): number {
  let byDate = days.monthDays
  for (const special of days.monthDaySpecials) byDate |= bitOf(special, length, firstWeekday)
  let byWeekday = everyWeek(days.weekdays, firstWeekday)
  for (const special of days.weekdaySpecials) byWeekday |= bitOf(special, length, firstWeekday)
  const both = days.isEither ? byDate | byWeekday : byDate & byWeekday
  return both & (2 ** length - 1)
}

/** Whether any day of a year matches, ignoring the years of the rule. */
export function hasDayIn(days: Days, year: number): boolean {
  for (let month = 0; month < 12; month++) {
    if (!(days.months & (1 << month))) continue
    const first = firstDayOf(year * 12 + month)
    const length = firstDayOf(year * 12 + month + 1) - first
    if (daysIn(days, { length, firstWeekday: weekdayOf(first) }) !== 0) return true
  }
  return false
}

/** The weekday bits, rotated to the first weekday of the month and repeated five times. */
function everyWeek(weekdays: number, firstWeekday: number): number {
  const week = ((weekdays >> firstWeekday) | (weekdays << (7 - firstWeekday))) & 0x7f
  return week | (week << 7) | (week << 14) | (week << 21) | (week << 28)
}

function bitOf(special: DaySpecial, length: number, firstWeekday: number): number {
  const day = dayOf(special, length, firstWeekday)
  return day >= 1 && day <= length ? 1 << (day - 1) : 0
}

/** The result may be a day that the month does not have. */
function dayOf(special: DaySpecial, length: number, firstWeekday: number): number {
  const firstOf = (weekday: number) => 1 + ((weekday - firstWeekday + 7) % 7)
  switch (special.kind) {
    case 'last':
      return length - special.back
    case 'last-working':
      return nearestWorking(length - special.back, length, firstWeekday)
    case 'nearest-working':
      return nearestWorking(special.day, length, firstWeekday)
    case 'last-weekday': {
      const first = firstOf(special.weekday)
      return first + Math.floor((length - first) / 7) * 7
    }
    case 'nth-weekday':
      return firstOf(special.weekday) + (special.nth - 1) * 7
  }
}

function nearestWorking(day: number, length: number, firstWeekday: number): number {
  if (day < 1 || day > length) return 0
  const weekday = (firstWeekday + day - 1) % 7
  if (weekday === 6) return day === 1 ? 3 : day - 1
  if (weekday === 0) return day === length ? day - 2 : day + 1
  return day
}

/** All possible months: twelve months, each starting on every weekday, with both lengths of February. */
export function* everyMonth(): Generator<Month & { month: number }> {
  const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  for (let firstWeekday = 0; firstWeekday < 7; firstWeekday++) {
    for (const [month, length] of lengths.entries()) yield { month, length, firstWeekday }
    yield { month: 1, length: 29, firstWeekday }
  }
}
