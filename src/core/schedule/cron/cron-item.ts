import { hashFraction } from '../rule/hash.ts'
import { excerptOf } from '../rule/rule-error.ts'
import { readSpecialMonthDay, readSpecialWeekday, type SpecialDays } from './cron-day-item.ts'
import { MONTH_DAY_UNIT, WEEKDAY_UNIT, YEAR_UNIT, type CronUnit } from './cron-units.ts'
import {
  notUnderstood,
  readRangeEnds,
  readCronStep,
  readValue,
  refuse,
  stepped,
} from './cron-value.ts'

/** One item of a field's list. */
export type CronItem =
  | { readonly kind: 'star'; readonly values: readonly number[]; readonly step: number }
  | { readonly kind: 'values'; readonly values: readonly number[] }
  | { readonly kind: 'hash'; readonly values: readonly number[]; readonly text: string }
  | ({ readonly kind: 'special' } & SpecialDays)

const STAR = /^(?:\*(?:\/(\d+))?|(\?))$/
const HASHED = /^H(?:\((\d+)-(\d+)\))?(?:\/(\d+))?$/
const RANGE = /^(\d+|[A-Z]+)(?:-(\d+|[A-Z]+))?(?:\/(\d+))?$/

/** A hashed day is one that every month has. */
const LAST_HASHED_DAY = 28

/** Reads one item in upper case. The seed decides the value of `H`. */
export function readItem(item: string, unit: CronUnit, seed: string): CronItem {
  const isDay = unit === MONTH_DAY_UNIT || unit === WEEKDAY_UNIT
  const star = STAR.exec(item)
  if (star && (isDay || star[2] === undefined)) {
    const step = readCronStep(star[1], unit, unit.first, unit.last)
    return { kind: 'star', values: stepped(unit.first, unit.last, step), step }
  }
  const hashed = unit === YEAR_UNIT ? null : HASHED.exec(item)
  if (hashed) return readHashed(hashed, unit, seed)
  const special = unit === MONTH_DAY_UNIT ? readSpecialMonthDay(item) : undefined
  const found = special ?? (unit === WEEKDAY_UNIT ? readSpecialWeekday(item) : undefined)
  if (found) return { kind: 'special', ...found }
  const range = RANGE.exec(item)
  if (!range) throw notUnderstood(item, unit)
  const values = readRange(range, unit)
  return {
    kind: 'values',
    values: unit === WEEKDAY_UNIT ? values.map((value) => value % 7) : values,
  }
}

/** `5`, `1-5`, `10-50/20`; also `5/15`, which continues to the end of the range. */
function readRange([item, low, high, stepText]: RegExpExecArray, unit: CronUnit): number[] {
  const first = readValue(low!, unit)
  if (high === undefined) {
    if (stepText === undefined) return [first]
    // Sunday written as 7 is the last day of the week, so a step from it ends there.
    const end = Math.max(first, unit.last)
    return stepped(first, end, readCronStep(stepText, unit, first, end))
  }
  const { from, to } = readRangeEnds(item, first, readValue(high, unit), unit)
  return stepped(from, to, readCronStep(stepText, unit, from, to))
}

/** `H`, `H/10`, `H(0-29)`, `H(0-29)/10`: a value in the range that is always the same for the same seed. */
function readHashed(
  [item, low, high, stepText]: RegExpExecArray,
  unit: CronUnit,
  seed: string,
): CronItem {
  const isWhole = low === undefined || high === undefined
  const from = isWhole ? unit.first : readValue(low, unit)
  const defaultEnd = unit === MONTH_DAY_UNIT ? LAST_HASHED_DAY : unit.last
  const to = isWhole ? defaultEnd : Math.min(unit.last, readValue(high, unit))
  if (from > to) throw refuse(unit, `${excerptOf(item)} runs backwards`, `Write H(${to}-${from}).`)
  const place = hashFraction(`${seed}\n${unit.name}`)
  const text = isWhole ? 'H' : `H(${from}-${to})`
  if (stepText === undefined) {
    return { kind: 'hash', values: [from + Math.floor(place * (to - from + 1))], text }
  }
  const step = readCronStep(stepText, unit, from, to)
  const values = stepped(from + Math.floor(place * step), to, step)
  return { kind: 'hash', values, text: `${text}/${step}` }
}
