import { nearest, quoted, Refusal } from '../rule/rule-error.ts'
import { WEEKDAY, type CronUnit } from './cron-units.ts'

/** A number or a name. For weekdays it may be 7. */
export function readValue(text: string, unit: CronUnit): number {
  const last = lastValue(unit)
  if (/^\d/.test(text)) {
    const value = Number(text)
    if (value >= unit.first && value <= last) return value
    throw refuse(unit, `${quoted(text)} is not in ${unit.first}-${last}`, rounded(value, unit))
  }
  const index = unit.names.findIndex((name, i) => text === name || text === unit.fullNames[i])
  if (index >= 0) return unit.first + index
  throw notUnderstood(text, unit)
}

/** Where a range begins and ends. A week may begin or end with Sunday: `7-2` is 0-2, `5-SUN` is 5-7. */
export function readRangeEnds(
  item: string,
  first: number,
  last: number,
  unit: CronUnit,
): { from: number; to: number } {
  const isWeek = unit === WEEKDAY
  // 7-2 begins the week with Sunday, so 7 reads as 0. 7-7 is Sunday alone, not the whole week.
  const from = isWeek && first === 7 && last < 7 ? 0 : first
  const to = isWeek && last === 0 && from > 0 ? 7 : last
  if (from <= to) return { from, to }
  const wrapped = `${from}-${unit.last},${unit.first}-${to}`
  throw refuse(unit, `${quoted(item)} runs backwards`, `Write ${wrapped}.`)
}

/** The step behind a `/`, within a range it has to be smaller than. */
export function readStep(
  text: string | undefined,
  unit: CronUnit,
  from: number,
  to: number,
): number {
  if (text === undefined) return 1
  const step = Number(text)
  if (step === 0) throw refuse(unit, 'a step of 0 never gets anywhere', 'The least step is 1.')
  if (step === 1 || step <= to - from) return step
  const message = `a step of ${text.slice(0, 10)} leaves nothing of ${from}-${to} but ${from}`
  throw refuse(unit, message, `Write ${from} if that is meant.`)
}

export function stepped(from: number, to: number, step: number): number[] {
  const length = Math.floor((to - from) / step) + 1
  return Array.from({ length }, (_, index) => from + index * step)
}

export function notUnderstood(item: string, unit: CronUnit): Refusal {
  return refuse(unit, `${quoted(item)} is not understood`, meant(item, unit))
}

export function refuse(unit: CronUnit, message: string, hint?: string): Refusal {
  return new Refusal('cron', `${unit.name}: ${message}`, hint)
}

/** 24 and 60 are what comes after the last one, which is the first. */
function rounded(value: number, unit: CronUnit): string {
  const isNext = value === unit.last + 1 && unit.first === 0
  return `Write ${value < unit.first || isNext ? unit.first : unit.last}.`
}

function meant(item: string, unit: CronUnit): string {
  const name = nearest(item, unit.names) ?? unit.names.find((one) => item.startsWith(one))
  if (name !== undefined) return `Did you mean ${name}?`
  if (item === '') return 'There is a comma too many.'
  if (item === '?') return 'Write *; the question mark is for days.'
  return `Write a number of ${unit.first}-${lastValue(unit)}, a range, a list, * or */2.`
}

function lastValue(unit: CronUnit): number {
  return unit === WEEKDAY ? 7 : unit.last
}
