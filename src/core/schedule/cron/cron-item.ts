import { hashFraction } from '../rule/hash.ts'
import { quoted } from '../rule/rule-error.ts'
import { readSpecialMonthDay, readSpecialWeekday, type SpecialDays } from './cron-day-item.ts'
import { MONTH_DAY, WEEKDAY, type CronUnit } from './cron-units.ts'
import { notUnderstood, readRangeEnds, readStep, readValue, refuse, stepped } from './cron-value.ts'

/** One member of a field's list. */
export type CronItem =
  | { readonly kind: 'star'; readonly values: readonly number[]; readonly step: number }
  | { readonly kind: 'values'; readonly values: readonly number[] }
  | { readonly kind: 'hash'; readonly values: readonly number[]; readonly text: string }
  | ({ readonly kind: 'special' } & SpecialDays)

const STAR = /^(?:\*(?:\/(\d+))?|(\?))$/
const HASHED = /^H(?:\((\d+)-(\d+)\))?(?:\/(\d+))?$/
const RANGE = /^(\d+|[A-Z]+)(?:-(\d+|[A-Z]+))?(?:\/(\d+))?$/

/** Months end on different days; a hashed day is one that all of them have. */
const LAST_HASHED_DAY = 28

/** Reads one item, in capitals. The seed decides what `H` stands for. */
export function readItem(item: string, unit: CronUnit, seed: string): CronItem {
  const isDay = unit === MONTH_DAY || unit === WEEKDAY
  const star = STAR.exec(item)
  if (star && (isDay || star[2] === undefined)) {
    const step = readStep(star[1], unit, unit.first, unit.last)
    return { kind: 'star', values: stepped(unit.first, unit.last, step), step }
  }
  const hashed = HASHED.exec(item)
  if (hashed) return readHashed(hashed, unit, seed)
  const special = unit === MONTH_DAY ? readSpecialMonthDay(item) : undefined
  const found = special ?? (unit === WEEKDAY ? readSpecialWeekday(item) : undefined)
  if (found) return { kind: 'special', ...found }
  const range = RANGE.exec(item)
  if (!range) throw notUnderstood(item, unit)
  const values = readRange(range, unit)
  return { kind: 'values', values: unit === WEEKDAY ? values.map((value) => value % 7) : values }
}

/** `5`, `1-5`, `10-50/20`; also `5/15`, which goes on to the end. */
function readRange([item, low, high, stepText]: RegExpExecArray, unit: CronUnit): number[] {
  const first = readValue(low!, unit)
  if (high === undefined) {
    if (stepText === undefined) return [first]
    // Sunday written as 7 is the last day of the week: there is nothing after it to step to.
    const end = Math.max(first, unit.last)
    return stepped(first, end, readStep(stepText, unit, first, end))
  }
  const { from, to } = readRangeEnds(item, first, readValue(high, unit), unit)
  return stepped(from, to, readStep(stepText, unit, from, to))
}

/** `H`, `H/10`, `H(0-29)`, `H(0-29)/10`: somewhere in the range, and always in the same place. */
function readHashed(
  [item, low, high, stepText]: RegExpExecArray,
  unit: CronUnit,
  seed: string,
): CronItem {
  const isWhole = low === undefined || high === undefined
  const from = isWhole ? unit.first : readValue(low, unit)
  const usualTo = unit === MONTH_DAY ? LAST_HASHED_DAY : unit.last
  const to = isWhole ? usualTo : Math.min(unit.last, readValue(high, unit))
  if (from > to) throw refuse(unit, `${quoted(item)} runs backwards`, `Write H(${to}-${from}).`)
  const place = hashFraction(`${seed}\n${unit.name}`)
  const text = isWhole ? 'H' : `H(${from}-${to})`
  if (stepText === undefined) {
    return { kind: 'hash', values: [from + Math.floor(place * (to - from + 1))], text }
  }
  const step = readStep(stepText, unit, from, to)
  const values = stepped(from + Math.floor(place * step), to, step)
  return { kind: 'hash', values, text: `${text}/${step}` }
}
