import { type RuleSource, localTime, readRule } from '../../src/core/schedule/index.ts'
import { agrees, type PunctualAnswer, answerTo, type Vector } from './vectors.ts'

/**
 * Deliberate differences between Punctual and other libraries. A disagreement belongs to a class only if the
 * class explains it: the expression has the form in question, and the other reading of that form gives the
 * expected times. docs/explanation/cron-libraries.md has a line for each class.
 */
export interface VectorClass {
  readonly name: string
  explains(vector: Vector, answer: PunctualAnswer): boolean
}

const HOUR_MS = 3_600_000
const FIELD_NAMES = ['second', 'minute', 'hour', 'date', 'month', 'weekday', 'year'] as const
type FieldName = (typeof FIELD_NAMES)[number]
type Fields = Partial<Record<FieldName, string>>

/** Where Punctual refuses: the error text, and the form of the expression that leads to it. */
const REFUSALS: readonly [name: string, message: RegExp, form: RegExp][] = [
  ['range that runs backwards', /runs backwards/, /[\dA-Z]-[\dA-Z]/i],
  ['step beyond its range', /a step of \d+ leaves nothing/, /\/\d/],
  ['question mark outside the days', /: "\?" is not understood/, /\?/],
  ['fewer than five fields', /fields?, and five or six are needed/, /^\s*(?:\S+\s+){0,3}\S+\s*$/],
  ['nicknames of one library', /"@\w+" is not known/, /^\s*@every_(?:second|minute)\s*$/i],
  ['last weekday as L5', /"L\d" is not understood/, /\bL\d/],
  ['L as part of a range or step', /"\S*LW?\S*" is not understood/, /-L|LW?\//i],
  ['plus sign before a weekday', /"\+[A-Z]{3}" is not understood/, /\+[A-Z]{3}/],
  ['years outside 1970-2099', /year: "\d+" is not in 1970-2099/, /\s\S*\d\S*$/],
  ['months by any beginning of their name', /month: "[A-Z]{4,}" is not understood/, /[A-Z]{4,}/i],
]

/** Forms that Punctual accepts and others refuse. All numbers must still be right. */
const ACCEPTED: readonly [name: string, isForm: (fields: Fields, expr: string) => boolean][] = [
  ['value said twice', (fields) => Object.values(fields).some((field) => hasDoubles(field))],
  ['step from a value on', (_fields, expr) => /(?:^|[\s,])\d+\/\d/.test(expr)],
  ['special days in lists and ranges', ({ date = '', weekday = '' }) => isCombined(date, weekday)],
  ['full names', (_fields, expr) => /[A-Z]{3,}DAY\b/i.test(expr)],
  ['last weekday by its name', ({ weekday = '' }) => /^[A-Z]{3}L$/i.test(weekday)],
  ['days without a question mark, or with two', (fields) => hasUnusualMarks(fields)],
  ['seconds and years', ({ year }) => year !== undefined],
  ['week that begins with 7', ({ weekday = '' }) => /^7-[0-6]$/.test(weekday)],
]

/** Where both accept it: the other reading, which must give the expected times. */
const READINGS: readonly [
  name: string,
  readings: (fields: Fields, vector: Vector) => readonly Fields[],
][] = [
  ['seconds after the weekday', secondsLast],
  ['week from a day to itself', (fields) => withWeekday(fields, /^(\w+)-\1$|^7-0$/i, '*')],
  [
    'week that ends with 7 for a step',
    (fields) => withWeekday(fields, /^([1-6])\/(\d)$/, '$1-7/$2'),
  ],
  ['star with a special day', (fields) => withWeekday(fields, /^\*,(.*#.*)$/, '$1')],
]

export const VECTOR_CLASSES: readonly VectorClass[] = [
  ...READINGS.map(([name, readings]) => ({
    name,
    explains: (vector: Vector) => isExplainedBy(readings(fieldsOf(vector.expr), vector), vector),
  })),
  ...REFUSALS.map(([name, message, form]) => ({
    name,
    explains: ({ expr, expect }: Vector, answer: PunctualAnswer) =>
      expect !== 'error' &&
      answer.kind === 'refused' &&
      message.test(answer.message) &&
      form.test(expr),
  })),
  ...ACCEPTED.map(([name, isForm]) => ({
    name,
    explains: ({ expr, expect }: Vector, answer: PunctualAnswer) =>
      expect === 'error' &&
      answer.kind !== 'refused' &&
      isForm(fieldsOf(expr), expr) &&
      isInRange(fieldsOf(expr)),
  })),
  { name: 'day of month and day of week together', explains: isOtherDays },
  { name: 'change of the clocks', explains: isOtherClocks },
  { name: 'working day in another month', explains: isLaterWorkingDay },
  { name: 'gap of another size than an hour', explains: isAnHourLater },
  {
    name: 'hashes of H',
    explains: ({ expr, expect }, answer) =>
      /(?:^|\s)H/.test(expr) && answer.kind === 'next' && isInstant(expect),
  },
  {
    name: 'before 1970',
    explains: ({ after, expect }) =>
      after !== null && Date.parse(after) < 0 && isInstant(expect) && Date.parse(expect) < 0,
  },
]

export function classOf(vector: Vector, answer: PunctualAnswer): string | undefined {
  return VECTOR_CLASSES.find((one) => one.explains(vector, answer))?.name
}

function fieldsOf(expr: string): Fields {
  const words = expr.trim().split(/\s+/)
  const all = words.length === 5 ? ['', ...words] : words
  const pairs = FIELD_NAMES.map((name, index) => [name, all[index] ?? ''] as const)
  return Object.fromEntries(pairs.filter(([, text]) => text !== ''))
}

function textOf(fields: Fields): string {
  return FIELD_NAMES.flatMap((name) => fields[name] ?? []).join(' ')
}

function isInstant(expect: string | null): expect is string {
  return expect !== null && /^\d{4}-/.test(expect)
}

/** Whether one of the readings fires as the vector expects. */
function isExplainedBy(readings: readonly Fields[], { zone, after, expect }: Vector): boolean {
  if (after === null) return false
  return readings.some((fields) => agrees(expect, answerTo({ cron: textOf(fields), zone }, after)))
}

function withWeekday(fields: Fields, form: RegExp, meant: string): Fields[] {
  const { weekday = '' } = fields
  return form.test(weekday) ? [{ ...fields, weekday: weekday.replace(form, meant) }] : []
}

/** Six fields, or seven with a year: minute, hour, date, month, weekday, second. */
function secondsLast(fields: Fields, { expr }: Vector): Fields[] {
  const [minute = '', hour = '', date = '', month = '', weekday = '', second = '', year] = expr
    .trim()
    .split(/\s+/)
  if (second === '' || fields.second === undefined) return []
  return [{ second, minute, hour, date, month, weekday, ...(year === undefined ? {} : { year }) }]
}

function hasDoubles(field: string): boolean {
  const items = field.split(',').map((item) => (item === '7' ? '0' : item))
  return new Set(items).size < items.length
}

function isCombined(date: string, weekday: string): boolean {
  return /,.*[W#]|[W#].*,|-.*#/i.test(date) || /,.*#|#.*,|-.*#/.test(weekday)
}

/** Quartz requires exactly one question mark in the two fields; others allow at most one, or none in a list. */
function hasUnusualMarks({ second, date = '', weekday = '' }: Fields): boolean {
  const fields = [date, weekday]
  const marks = fields.filter((field) => field === '?').length
  if (fields.some((field) => /\?,|,\?/.test(field))) return true
  return marks === 2 || (marks === 0 && second !== undefined && fields.includes('*'))
}

const LAST_VALUES: Readonly<Record<FieldName, number>> = {
  second: 59,
  minute: 59,
  hour: 23,
  date: 31,
  month: 12,
  weekday: 7,
  year: 2099,
}

function isInRange(fields: Fields): boolean {
  return FIELD_NAMES.every((name) => {
    const numbers = fields[name]?.match(/\d+/g) ?? []
    return numbers.every((number) => Number(number) <= LAST_VALUES[name])
  })
}

/** Both day fields are restricted: others require a day to match both, or count `*` with a step as restricted. */
function isOtherDays({ expr, zone, after, expect }: Vector): boolean {
  const fields = fieldsOf(expr)
  const { date = '*', weekday = '*' } = fields
  if (after === null || date === '*' || weekday === '*') return false
  const byDate = readRule({ cron: textOf({ ...fields, weekday: '*' }), zone })
  const byWeekday = readRule({ cron: textOf({ ...fields, date: '*' }), zone })
  if (!byDate.ok || !byWeekday.ok) return false
  const from = Date.parse(after)
  const nexts = [byDate.rule.next(from), byWeekday.rule.next(from)].map((at) => at ?? Infinity)
  const either: PunctualAnswer = { kind: 'next', at: Math.min(...nexts) }
  const both: PunctualAnswer = { kind: 'next', at: nextOfBoth([byDate.rule, byWeekday.rule], from) }
  return agrees(expect, either) || agrees(expect, both)
}

type Times = { next(after: number): number | null }

/** Decades of months in which a day could match both. */
const MAX_LEAPS = 3_000

function nextOfBoth([one, other]: readonly [Times, Times], after: number): number | null {
  let at = after
  for (let leap = 0; leap < MAX_LEAPS; leap++) {
    const [a, b] = [one.next(at), other.next(at)]
    if (a === null || b === null) return null
    if (a === b) return a
    at = Math.max(a, b) - 1
  }
  return null
}

/**
 * Clocks change within a day and a half: others follow another policy, treat stars as named hours, or move
 * times within a gap by the size of the gap.
 */
function isOtherClocks({ expr, zone, after, expect }: Vector): boolean {
  const expected = Date.parse(expect ?? '')
  if (after === null || Number.isNaN(expected)) return false
  const reach = 36 * HOUR_MS
  const offsets = [Date.parse(after), expected].flatMap((at) => [
    offsetAt(at - reach, zone),
    offsetAt(at + reach, zone),
  ])
  if (new Set(offsets).size < 2) return false
  const sources = otherPolicies(fieldsOf(expr), zone)
  return (
    sources.some((source) => agrees(expect, answerTo(source, after))) ||
    isShifted(expr, zone, expected)
  )
}

function otherPolicies(fields: Fields, zone: string): RuleSource[] {
  const { minute = '', hour = '' } = fields
  const hours = [hour, hour.replace(/^\*/, '0-23')]
  const minutes = [minute, minute.replace(/^\*/, '0-59')]
  const crons = hours.flatMap((one) =>
    minutes.map((other) => textOf({ ...fields, hour: one, minute: other })),
  )
  const policies = (['run-after', 'skip'] as const).flatMap((gap) =>
    (['first', 'both', 'last'] as const).map((repeat) => ({ gap, repeat })),
  )
  return crons.flatMap((cron) => policies.map((dst) => ({ cron, zone, dst })))
}

/** Whether an instant is a time of the rule on clocks that were not set forward. */
function isShifted(expr: string, zone: string, at: number): boolean {
  const before = offsetAt(at - 36 * HOUR_MS, zone)
  const size = offsetAt(at, zone) - before
  const wasBefore = size > 0 && offsetAt(at - size, zone) === before
  const reading = readRule({ cron: expr })
  return wasBefore && reading.ok && reading.rule.next(at + before - 1) === at + before
}

/** cron-parser moves a time within a gap by one hour, whatever the size of the gap. */
function isAnHourLater({ expr, zone, expect }: Vector): boolean {
  if (!isInstant(expect)) return false
  const at = Date.parse(expect)
  const jump = offsetAt(at, zone) - offsetAt(at - 3 * HOUR_MS, zone)
  const local = at + offsetAt(at, zone) - HOUR_MS
  const reading = readRule({ cron: expr })
  return jump > 0 && jump !== HOUR_MS && reading.ok && reading.rule.next(local - 1) === local
}

function offsetAt(at: number, zone: string): number {
  const local = localTime(Math.max(0, at), zone)
  return Date.parse(`${local.slice(0, 19)}Z`) - Math.floor(Math.max(0, at) / 1_000) * 1_000
}

/** `31W`: others leave out months whose 31st is a Sunday, so they expect a later fire. */
function isLaterWorkingDay({ expr, zone, after, expect }: Vector): boolean {
  const reading = readRule({ cron: expr, zone })
  if (!/\d+W/i.test(expr) || !reading.ok || after === null) return false
  let at: number | null = Date.parse(after)
  for (let count = 0; count < 4 && at !== null; count++) {
    at = reading.rule.next(at)
    if (at !== null && agrees(expect, { kind: 'next', at })) return true
  }
  return false
}
