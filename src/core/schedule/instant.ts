import { FIRST_INSTANT, firstDayOf, LAST_INSTANT } from './calendar/dates.ts'
import { excerptOf, RuleError } from './rule/rule-error.ts'

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:([Zz])|([+-])(\d\d):(\d\d))?$/
const EXAMPLE = 'Write it as 2026-12-01T09:00:00Z or 2026-12-01T09:00:00+02:00.'
/** A smaller number must be seconds: as milliseconds it would be before March 1973. */
const SURELY_MILLISECONDS = 1e11

/** A local date and time whose zone is given elsewhere. */
export interface LocalTime {
  readonly localSecond: number
}

/** Milliseconds since 1970, or a local time if the text has no offset. */
export function readInstant(value: string | number, field: string): number | LocalTime {
  if (typeof value === 'number') return readNumber(value, field)
  const parts = RFC_3339.exec(value)
  if (!parts) throw new RuleError(field, `${excerptOf(value)} is not a date and time`, EXAMPLE)
  const [, year, month, day, hour, minute, second = 0, fraction = '', utc, sign] = parts
  const date = dayNumber(Number(year), Number(month), Number(day))
  if (date === undefined) {
    throw new RuleError(field, `there is no ${year}-${month}-${day} in the calendar`, EXAMPLE)
  }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) {
    const hint = 'The last second of a day is 23:59:59; leap seconds are not counted.'
    throw new RuleError(field, `no day has the time ${value.slice(11, 19)}`, hint)
  }
  const local = date * 86_400 + Number(hour) * 3_600 + Number(minute) * 60 + Number(second)
  if (utc === undefined && sign === undefined) {
    within(local * 1_000, field, value)
    return { localSecond: local }
  }
  const offset = readOffset(parts, field)
  return within(
    (local - offset) * 1_000 + Number(fraction.padEnd(3, '0').slice(0, 3)),
    field,
    value,
  )
}

/** Reads an instant that does not depend on a zone. */
export function readAbsolute(value: string | number, field: string): number {
  const instant = readInstant(value, field)
  if (typeof instant === 'number') return instant
  throw new RuleError(field, `${excerptOf(String(value))} has no zone`, EXAMPLE)
}

export function writeInstant(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}

function readNumber(value: number, field: string): number {
  if (!Number.isInteger(value)) {
    throw new RuleError(field, `${value} is not a whole number of milliseconds`, EXAMPLE)
  }
  if (value >= FIRST_INSTANT && value < SURELY_MILLISECONDS) {
    const hint = `Write ${value}000 if it is seconds.`
    throw new RuleError(field, `${value} is too small for milliseconds since 1970`, hint)
  }
  return within(value, field, String(value))
}

function within(ms: number, field: string, shown: string): number {
  if (ms >= FIRST_INSTANT && ms <= LAST_INSTANT) return ms
  throw new RuleError(field, `${excerptOf(shown)} is not between 1970 and 9999`, EXAMPLE)
}

function dayNumber(year: number, month: number, day: number): number | undefined {
  if (month < 1 || month > 12 || day < 1) return undefined
  const index = year * 12 + month - 1
  const first = firstDayOf(index)
  return day <= firstDayOf(index + 1) - first ? first + day - 1 : undefined
}

function readOffset(parts: RegExpExecArray, field: string): number {
  const [, , , , , , , , utc, sign, hours, minutes] = parts
  if (utc !== undefined) return 0
  if (Number(hours) > 23 || Number(minutes) > 59) {
    throw new RuleError(field, `no zone has the offset ${sign}${hours}:${minutes}`, EXAMPLE)
  }
  return (Number(hours) * 3_600 + Number(minutes) * 60) * (sign === '-' ? -1 : 1)
}
