import type { CronField } from '../calendar/calendar-rule.ts'
import { readItem, type CronItem } from './cron-item.ts'
import { MONTH_DAY_UNIT, WEEKDAY_UNIT, YEAR_UNIT, type CronUnit } from './cron-units.ts'
import { stepped } from './cron-value.ts'

export function readField(text: string, unit: CronUnit, seed: string): CronField {
  const items = text
    .toUpperCase()
    .split(',')
    .map((item) => readItem(item, unit, seed))
  const isWild = items.every(({ kind }) => kind === 'star')
  const isOpen = items[0]?.kind === 'star'
  // A year is written as four-digit values, which distinguish it from a weekday.
  const keepsStars =
    unit !== YEAR_UNIT && (isWild || (isOpen && (unit === MONTH_DAY_UNIT || unit === WEEKDAY_UNIT)))
  return {
    values: sorted(items.flatMap((item) => (item.kind === 'special' ? [] : item.values))),
    specials: items.flatMap((item) => (item.kind === 'special' ? item.specials : [])),
    isWild,
    isOpen,
    text: writeField(items, keepsStars, unit),
  }
}

/** Stars are kept where they mean more than the values they stand for. */
function writeField(items: readonly CronItem[], keepsStars: boolean, unit: CronUnit): string {
  const steps = keepsStars ? distinctSteps(items) : []
  if (steps.includes(1)) return '*'
  const starred = new Set(steps.flatMap((step) => stepped(unit.first, unit.last, step)))
  const listed = items.flatMap((item) =>
    item.kind === 'values' || (item.kind === 'star' && !keepsStars) ? item.values : [],
  )
  const texts = items.flatMap((item) => {
    if (item.kind === 'special') return item.texts
    return item.kind === 'hash' ? [item.text] : []
  })
  return [
    ...steps.map((step) => `*/${step}`),
    ...writeValues(sorted(listed).filter((value) => !starred.has(value))),
    ...new Set(texts.toSorted()),
  ].join(',')
}

/** The steps of the stars, without those that another step covers. */
function distinctSteps(items: readonly CronItem[]): readonly number[] {
  const steps = sorted(items.flatMap((item) => (item.kind === 'star' ? [item.step] : [])))
  return steps.filter((step) => !steps.some((other) => other < step && step % other === 0))
}

/** Writes `0,30`, `1-5`, `8-18/2`: as one sequence if the distance is constant, else neighbours are grouped. */
function writeValues(values: readonly number[]): string[] {
  const [first = 0, second = 0] = values
  const step = second - first
  const isEven = values.every((value, index) => value === first + index * step)
  if (values.length > 2 && step > 1 && isEven) return [`${first}-${values.at(-1)}/${step}`]
  const runs: number[][] = []
  for (const value of values) {
    const run = runs.at(-1)
    if (run?.at(-1) === value - 1) run.push(value)
    else runs.push([value])
  }
  return runs.flatMap((run) => (run.length > 2 ? [`${run[0]}-${run.at(-1)}`] : run.map(String)))
}

function sorted(values: readonly number[]): readonly number[] {
  const isSorted = values.every((value, index) => index === 0 || value > values[index - 1]!)
  return isSorted ? values : [...new Set(values)].sort((a, b) => a - b)
}
