import type { CalendarRule, DayFields, TimeFields } from '../calendar/calendar-rule.ts'
import { refuseImpossibleDays } from '../calendar/possible-days.ts'
import { codePointName, nearestWord, excerptOf, RuleError } from '../rule/rule-error.ts'
import { readField } from './cron-field.ts'
import {
  type CronUnit,
  HOUR_UNIT,
  MINUTE_UNIT,
  MONTH_UNIT,
  MONTH_DAY_UNIT,
  SECOND_UNIT,
  WEEKDAY_UNIT,
  YEAR_UNIT,
} from './cron-units.ts'

export type CronRule = CalendarRule & { readonly times: TimeFields }

/** Longer than any sensible expression; a longer text is not parsed. */
const MAX_LENGTH = 1_000
const UNITS = [
  SECOND_UNIT,
  MINUTE_UNIT,
  HOUR_UNIT,
  MONTH_DAY_UNIT,
  MONTH_UNIT,
  WEEKDAY_UNIT,
] as const
const UNSUPPORTED_CHARACTER = /[^\t\x20-\x7e]/u

const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** The fields in order; the second and the year are optional. */
const ALL_UNITS = [...UNITS, YEAR_UNIT] as const
/** Four digits distinguish a year from a weekday in an expression of six fields. */
const HAS_YEAR = /(?<!\d)\d{4}(?!\d)/

/**
 * Reads five fields; six with seconds first or a year last; seven with both; or a nickname. The seed decides the
 * value of `H`.
 */
export function readCron(text: string, seed: string): CronRule {
  const fields = words(text)
  const all = assignPositions(fields)
  if (all === undefined) throw wrongCount(text, fields, seed)
  return readFields(all, seed)
}

/**
 * Assigns the fields to seven positions, of which second and year may be empty; undefined for another number of
 * fields.
 */
function assignPositions(fields: readonly string[]): readonly (string | undefined)[] | undefined {
  switch (fields.length) {
    case 5:
      return [undefined, ...fields, undefined]
    case 6:
      return HAS_YEAR.test(fields[5]!) ? [undefined, ...fields] : [...fields, undefined]
    case 7:
      return fields
    default:
      return undefined
  }
}

function readFields(all: readonly (string | undefined)[], seed: string): CronRule {
  const [second, minute, hour, monthDay, month, weekday, year] = all.map((field, index) =>
    field === undefined ? undefined : readField(field, ALL_UNITS[index]!, seed),
  )
  // A field with all years needs no list.
  const named = year?.isWild && year.values.length === YEARS ? undefined : year
  const days = { monthDay, month, weekday, ...(named && { year: named }) } as DayFields
  refuseImpossibleDays(days, 'cron')
  return { days, times: { kind: 'fields', second, minute, hour } as TimeFields }
}

const YEARS = YEAR_UNIT.last - YEAR_UNIT.first + 1

/** The normalised text, which `readCron` reads as the same rule. */
export function writeCron({ times, days }: CronRule): string {
  const { monthDay, month, weekday, year } = days
  return [times.second, times.minute, times.hour, monthDay, month, weekday, year]
    .flatMap((field) => (field === undefined ? [] : [field.text]))
    .join(' ')
}

function words(text: string): string[] {
  if (text.length > MAX_LENGTH) {
    throw new RuleError(
      'cron',
      `it has ${text.length} characters; at most ${MAX_LENGTH} are allowed`,
    )
  }
  const foreign = UNSUPPORTED_CHARACTER.exec(text)?.[0]
  if (foreign !== undefined) {
    const message = `the character ${codePointName(foreign)} is not allowed in it`
    throw new RuleError('cron', message, 'Use the digits 0-9, letters, * / , - # ? ( ) and blanks.')
  }
  const trimmed = text.replaceAll('\t', ' ').trim()
  if (!trimmed.startsWith('@')) return trimmed.split(/ +/)
  const expanded = NICKNAMES[trimmed.toLowerCase()]
  if (expanded === undefined) throw unknownNickname(trimmed)
  return expanded.split(' ')
}

function unknownNickname(name: string): RuleError {
  if (name.toLowerCase() === '@reboot') {
    const hint = 'Run it from the service manager of the machine, or by a job without a schedule.'
    return new RuleError('cron', '@reboot is not supported: it is not a time', hint)
  }
  const known = [...Object.keys(NICKNAMES), '@every']
  const near = nearestWord(name.split(' ')[0]!, known)
  const hint = near ? `Did you mean ${near}?` : `There are ${known.join(', ')}.`
  return new RuleError('cron', `${excerptOf(name)} is not known`, hint)
}

function wrongCount(text: string, fields: string[], seed: string): RuleError {
  if (text.trim() === '') {
    return new RuleError('cron', 'it is empty', 'Write five fields, as in 0 2 * * 1-5.')
  }
  if (/^(every|daily|hourly|[a-z]+ at)\b/i.test(text.trim())) {
    return new RuleError(
      'cron',
      `${excerptOf(text)} is in words`,
      'Words are understood by `every`.',
    )
  }
  const count = fields.length
  const counted = `it has ${count} field${count === 1 ? '' : 's'}, and`
  if (count > ALL_UNITS.length) {
    return new RuleError(
      'cron',
      `${counted} at most seven are allowed`,
      `They are ${namesOf(ALL_UNITS)}.`,
    )
  }
  const missing = missingUnits(fields, seed)
  const verb = missing.length === 1 ? 'is' : 'are'
  const message = `${counted} five or six are needed: the ${namesOf(missing)} ${verb} missing`
  const whole = FIVE.map((unit) => (missing.includes(unit) ? '*' : fields.shift()!)).join(' ')
  const hint = `Write ${whole.slice(0, 60)} for ${namesOf(FIVE)}; six fields have the second first.`
  return new RuleError('cron', message, hint)
}

const FIVE: readonly CronUnit[] = UNITS.slice(1)

/** The units of the missing fields: the last ones or, if one field is missing, the last one that could be it. */
function missingUnits(fields: readonly string[], seed: string): readonly CronUnit[] {
  if (fields.length < FIVE.length - 1) return FIVE.slice(fields.length)
  const place = FIVE.findLastIndex((_, index) => isReadable(fields.toSpliced(index, 0, '*'), seed))
  return [FIVE[place < 0 ? FIVE.length - 1 : place]!]
}

function isReadable(fields: readonly string[], seed: string): boolean {
  try {
    readFields([undefined, ...fields, undefined], seed)
    return true
  } catch {
    return false
  }
}

function namesOf(units: readonly CronUnit[]): string {
  const names = units.map(({ name }) => name)
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
