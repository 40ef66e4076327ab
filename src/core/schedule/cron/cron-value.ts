import { nearestWord, excerptOf, RuleError } from '../rule/rule-error.ts'
import { WEEKDAY_UNIT, type CronUnit } from './cron-units.ts'

/** Reads a number or a name. A weekday may be 7. */
export function readValue(text: string, unit: CronUnit): number {
  const last = lastValue(unit)
  if (/^\d/.test(text)) {
    const value = Number(text)
    if (value >= unit.first && value <= last) return value
    throw refuse(unit, `${excerptOf(text)} is not in ${unit.first}-${last}`, rounded(value, unit))
  }
  const index = unit.names.findIndex((name, i) => text === name || text === unit.fullNames[i])
  if (index >= 0) return unit.first + index
  throw notUnderstood(text, unit)
}

/** Reads the ends of a range. A week may begin or end with Sunday: `7-2` is 0-2, `5-SUN` is 5-7. */
export function readRangeEnds(
  item: string,
  first: number,
  last: number,
  unit: CronUnit,
): { from: number; to: number } {
  const isWeek = unit === WEEKDAY_UNIT
  // In 7-2 the week begins with Sunday, so 7 becomes 0. 7-7 is only Sunday, not the whole week.
  const from = isWeek && first === 7 && last < 7 ? 0 : first
  const to = isWeek && last === 0 && from > 0 ? 7 : last
  if (from <= to) return { from, to }
  const ends = [rangeText(from, unit.last), rangeText(unit.first, to)]
  const wrapped = ends.join(',')
  throw refuse(unit, `${excerptOf(item)} runs backwards`, `Write ${wrapped}.`)
}

function rangeText(from: number, to: number): string {
  return from === to ? String(from) : `${from}-${to}`
}

/** Reads the step after a `/`; it must be smaller than its range. */
export function readCronStep(
  text: string | undefined,
  unit: CronUnit,
  from: number,
  to: number,
): number {
  if (text === undefined) return 1
  const step = Number(text)
  if (step === 0) throw refuse(unit, 'a step of 0 is not possible', 'The smallest step is 1.')
  if (step === 1 || step <= to - from) return step
  const message = `a step of ${text.slice(0, 10)} leaves nothing of ${from}-${to} but ${from}`
  throw refuse(unit, message, `Write ${from} if you mean that.`)
}

export function stepped(from: number, to: number, step: number): number[] {
  const length = Math.floor((to - from) / step) + 1
  return Array.from({ length }, (_, index) => from + index * step)
}

export function notUnderstood(item: string, unit: CronUnit): RuleError {
  return refuse(unit, `${excerptOf(item)} is not understood`, meant(item, unit))
}

export function refuse(unit: CronUnit, message: string, hint?: string): RuleError {
  return new RuleError('cron', `${unit.name}: ${message}`, hint)
}

/** 24 and 60 wrap to the first value. */
function rounded(value: number, unit: CronUnit): string {
  const isNext = value === unit.last + 1 && unit.first === 0
  return `Write ${value < unit.first || isNext ? unit.first : unit.last}.`
}

function meant(item: string, unit: CronUnit): string {
  const name = nearestWord(item, unit.names) ?? unit.names.find((one) => item.startsWith(one))
  if (name !== undefined) return `Did you mean ${name}?`
  if (item === '') return 'There is a comma too many.'
  if (item === '?') return 'Write *; the question mark is for days.'
  return `Write a number of ${unit.first}-${lastValue(unit)}, a range, a list, * or */2.`
}

function lastValue(unit: CronUnit): number {
  return unit === WEEKDAY_UNIT ? 7 : unit.last
}
