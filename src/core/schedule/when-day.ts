import { DAY_SECONDS, firstDayOf, monthOf, weekdayOf } from './calendar/dates.ts'
import { readTime } from './calendar/times-of-day.ts'
import { readInstant } from './instant.ts'
import { RuleError } from './rule/rule-error.ts'
import type { LocalClock } from './local-clock.ts'
import { LENGTH_WORDS } from './when-duration.ts'
import { monthNamed, weekdayNamed, MONTHS, WEEKDAYS } from './calendar/calendar-names.ts'

/**
 * How an ambiguous text is read: `24h`, `friday` or `09:00` is in the past after `--since` and in the future after
 * `at`.
 */
export type Direction = 'future' | 'past'

interface Reader {
  readonly clocks: LocalClock
  readonly now: number
  readonly direction: Direction
}

/** A day, counted from 1970-01-01, and the number of days to move it if the result is on the wrong side of now. */
interface Day {
  readonly day: number
  readonly stepDays: number
}

const RELATIVE: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 }
const DATE = /^\d{4}-\d\d-\d\d$/
const DAY_OF_MONTH = /^(\d{1,2})(?:st|nd|rd|th)?$/
const YEAR = /^\d{4}$/

/** Reads `tomorrow 09:00`, `friday`, `5pm`, `2026-11-18 noon`, `wed 18 nov 09:00`; undefined for anything else. */
export function readDayAndTime(phrase: string, reader: Reader): number | undefined {
  const words = phrase
    .replace(/^(\d{4}-\d\d-\d\d)t/, '$1 ')
    .replaceAll(',', ' ')
    .replaceAll(/(\d) (am|pm)\b/g, '$1$2')
    .split(' ')
    .filter((word) => word !== '')
  if (words[0] === 'on') words.shift()
  const named = readDay(words, reader)
  if (named !== undefined && words[0] === 'at' && words.length > 1) words.shift()
  if (named === undefined && words[0] === 'at') words.shift()
  const time = readTime(words[0])
  if (time !== undefined) words.shift()
  if (words.length > 0 || (named === undefined && time === undefined)) return undefined
  const today = { day: reader.clocks.dayAt(reader.now), stepDays: 1 }
  return moveToDirection(named ?? today, time ?? 0, reader)
}

/** Moves an ambiguous day (a weekday or no day) into the reader's direction. */
function moveToDirection({ day, stepDays }: Day, time: number, reader: Reader): number {
  const { clocks, now, direction } = reader
  const at = (offsetDays: number) => clocks.resolve((day + offsetDays) * DAY_SECONDS + time)
  const instant = at(0)
  if (stepDays === 0) return instant
  if (direction === 'past') return instant <= now ? instant : at(-stepDays)
  return instant > now ? instant : at(stepDays)
}

/** Takes the words that name a day from the front. */
function readDay(words: string[], reader: Reader): Day | undefined {
  const [first = '', second] = words
  const today = reader.clocks.dayAt(reader.now)
  if (Object.hasOwn(RELATIVE, first)) {
    words.shift()
    return { day: today + RELATIVE[first]!, stepDays: 0 }
  }
  if (DATE.test(first)) {
    words.shift()
    return { day: dayOfDate(first), stepDays: 0 }
  }
  const isNextOrLast = first === 'next' || first === 'last'
  const weekday = weekdayNamed(isNextOrLast ? second : first)
  if (isNextOrLast && weekday !== undefined) {
    words.splice(0, 2)
    return { day: adjacentWeekday(today, weekday, first === 'next'), stepDays: 0 }
  }
  if (weekday !== undefined) words.shift()
  const date = readDayOfMonth(words, today)
  if (date !== undefined) return { day: checkWeekday(date, weekday), stepDays: 0 }
  if (weekday === undefined) return undefined
  return { day: nearestWeekday(today, weekday, reader.direction), stepDays: 7 }
}

function nearestWeekday(today: number, weekday: number, direction: Direction): number {
  const ahead = (weekday - weekdayOf(today) + 7) % 7
  return direction === 'future' || ahead === 0 ? today + ahead : today + ahead - 7
}

/** The first such weekday after today, or the last one before today. */
function adjacentWeekday(today: number, weekday: number, isNext: boolean): number {
  const ahead = (weekday - weekdayOf(today) + 7) % 7
  if (isNext) return today + (ahead === 0 ? 7 : ahead)
  return today + ahead - 7
}

/** Reads `18 nov` and `nov 18`, with or without a year; the default is the current year. */
function readDayOfMonth(words: string[], today: number): number | undefined {
  const [first, second, third] = words
  const isMonthFirst = monthNamed(first) !== undefined
  const month = monthNamed(isMonthFirst ? first : second)
  const [, day] = DAY_OF_MONTH.exec((isMonthFirst ? second : first) ?? '') ?? []
  if (month === undefined || day === undefined) return undefined
  const hasYear = YEAR.test(third ?? '')
  words.splice(0, hasYear ? 3 : 2)
  const year = hasYear ? third : String(Math.floor(monthOf(today) / 12))
  return dayOfDate(`${year}-${String(month).padStart(2, '0')}-${day.padStart(2, '0')}`)
}

function dayOfDate(date: string): number {
  const midnight = readInstant(`${date}T00:00Z`, 'when')
  return Number(midnight) / 1_000 / DAY_SECONDS
}

/** A weekday given with a date must match it. */
function checkWeekday(day: number, weekday: number | undefined): number {
  const actual = weekdayOf(day)
  if (weekday === undefined || weekday === actual) return day
  const month = monthOf(day)
  const date = `${day - firstDayOf(month) + 1} ${MONTHS[month % 12]} ${Math.floor(month / 12)}`
  throw new RuleError('when', `${date} is a ${WEEKDAYS[actual]}, not a ${WEEKDAYS[weekday]}`)
}

/** Known words for spelling suggestions. */
export const WHEN_WORDS: readonly string[] = [
  ...Object.keys(RELATIVE),
  ...WEEKDAYS.map((name) => name.toLowerCase()),
  ...MONTHS.map((name) => name.toLowerCase()),
  'noon',
  'midnight',
  ...LENGTH_WORDS.filter((word) => word.length > 3),
]
