/** The words that describe schedules, for reading and writing. */

import { MONTHS, WEEKDAYS } from '../calendar/calendar-names.ts'

const NTH = ['first', 'second', 'third', 'fourth', 'fifth'] as const

/** `first`, `1st`, `31st`, or `last`. */
export function ordinalNamed(word: string | undefined): number | 'last' | undefined {
  if (word === 'last') return 'last'
  const index = NTH.findIndex((name) => name === word)
  if (index >= 0) return index + 1
  const [, digits] = /^(\d{1,2})(?:st|nd|rd|th)$/.exec(word ?? '') ?? []
  return digits === undefined ? undefined : Number(digits)
}

/** `second`, for weekdays. */
export function nth(number: number): string {
  return NTH[number - 1]!
}

/** `22nd`, for days. */
export function ordinal(number: number): string {
  const tens = Math.floor(number / 10)
  const suffix = tens === 1 ? undefined : { 1: 'st', 2: 'nd', 3: 'rd' }[number % 10]
  return `${number}${suffix ?? 'th'}`
}

/** All words with a meaning, for spelling suggestions. */
export const KNOWN_WORDS: readonly string[] = [
  ...WEEKDAYS.flatMap((day) => [day.toLowerCase(), `${day.toLowerCase()}s`]),
  ...MONTHS.map((month) => month.toLowerCase()),
  ...NTH,
  'every',
  'hourly',
  'daily',
  'weekly',
  'monthly',
  'yearly',
  'weekday',
  'weekdays',
  'weekend',
  'weekends',
  'between',
  'second',
  'seconds',
  'minute',
  'minutes',
  'hour',
  'hours',
  'day',
  'days',
  'month',
  'noon',
  'midnight',
  'last',
  'nearest',
  'after',
  'finish',
]
