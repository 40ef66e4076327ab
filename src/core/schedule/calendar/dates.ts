/** Gregorian dates as whole numbers: `Date` is too slow for walking along a calendar. */

export const DAY_SECONDS = 86_400

/** The range of instants for schedules: RFC 3339 can write them and zone data covers them. */
export const FIRST_INSTANT = 0
export const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Days from 1970-01-01 to the first of a month; the month index is `year * 12 + month - 1`. */
export function firstDayOf(monthIndex: number): number {
  const shifted = monthIndex - 2
  const year = Math.floor(shifted / 12)
  const month = shifted - year * 12
  return (
    year * 365 +
    Math.floor(year / 4) -
    Math.floor(year / 100) +
    Math.floor(year / 400) +
    Math.floor((month * 153 + 2) / 5) -
    719_468
  )
}

/** The month index of a day. The estimate is off by at most one. */
export function monthOf(day: number): number {
  const estimate = Math.floor((day + 719_528) / 30.436_875)
  if (day < firstDayOf(estimate)) return estimate - 1
  return day < firstDayOf(estimate + 1) ? estimate : estimate + 1
}

export function yearOf(second: number): number {
  return Math.floor(monthOf(Math.floor(second / DAY_SECONDS)) / 12)
}

/** The first second of a year. */
export function startOfYear(year: number): number {
  return firstDayOf(year * 12) * DAY_SECONDS
}

/** 0 is Sunday, as in cron. The first of January 1970 was a Thursday. */
export function weekdayOf(day: number): number {
  return (((day + 4) % 7) + 7) % 7
}

export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}
