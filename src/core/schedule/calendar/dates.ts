/** Dates of the Gregorian calendar as whole numbers, because `Date` is too slow to walk with. */

export const DAY_SECONDS = 86_400

/** The instants a schedule may name: all that RFC 3339 can write and a zone's data speak of. */
export const FIRST_INSTANT = 0
export const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Days from 1970-01-01 to the first of a month; months are counted through: `year * 12 + month - 1`. */
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

/** The month a day lies in, counted through as above. The estimate is off by one at most. */
export function monthOf(day: number): number {
  const estimate = Math.floor((day + 719_528) / 30.436_875)
  if (day < firstDayOf(estimate)) return estimate - 1
  return day < firstDayOf(estimate + 1) ? estimate : estimate + 1
}

export function yearOf(second: number): number {
  return Math.floor(monthOf(Math.floor(second / DAY_SECONDS)) / 12)
}

/** The second at which a year begins. */
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
