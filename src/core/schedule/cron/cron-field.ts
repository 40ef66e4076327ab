import type { DaySpecial } from '../calendar/plan.ts'
import { readItem, type CronItem } from './cron-item.ts'
import { MONTH_DAY, WEEKDAY, type CronUnit } from './cron-units.ts'
import { stepped } from './cron-value.ts'

export interface CronField {
  /** In order, each once. */
  readonly values: readonly number[]
  readonly specials: readonly DaySpecial[]
  /** Nothing but `*` and `*` with a step. */
  readonly isWild: boolean
  /** Starts with `*`, which for days means that it was left open. */
  readonly isOpen: boolean
  /** The same for every way to write the same. */
  readonly text: string
}

export function readField(text: string, unit: CronUnit, seed: string): CronField {
  const items = text
    .toUpperCase()
    .split(',')
    .map((item) => readItem(item, unit, seed))
  const isWild = items.every(({ kind }) => kind === 'star')
  const isOpen = items[0]?.kind === 'star'
  const keepsStars = isWild || (isOpen && (unit === MONTH_DAY || unit === WEEKDAY))
  return {
    values: sorted(items.flatMap((item) => (item.kind === 'special' ? [] : item.values))),
    specials: items.flatMap((item) => (item.kind === 'special' ? item.specials : [])),
    isWild,
    isOpen,
    text: writeField(items, keepsStars, unit),
  }
}

/** Stars stay where they mean more than the values they stand for. */
function writeField(items: readonly CronItem[], keepsStars: boolean, unit: CronUnit): string {
  const steps = keepsStars ? leastSteps(items) : []
  if (steps.includes(1)) return '*'
  const starred = new Set(steps.flatMap((step) => stepped(unit.first, unit.last, step)))
  const plain = items.flatMap((item) =>
    item.kind === 'values' || (item.kind === 'star' && !keepsStars) ? item.values : [],
  )
  const texts = items.flatMap((item) => {
    if (item.kind === 'special') return item.texts
    return item.kind === 'hash' ? [item.text] : []
  })
  return [
    ...steps.map((step) => `*/${step}`),
    ...writeValues(sorted(plain).filter((value) => !starred.has(value))),
    ...new Set(texts.toSorted()),
  ].join(',')
}

/** Steps of the stars, without those that another one covers. */
function leastSteps(items: readonly CronItem[]): readonly number[] {
  const steps = sorted(items.flatMap((item) => (item.kind === 'star' ? [item.step] : [])))
  return steps.filter((step) => !steps.some((other) => other < step && step % other === 0))
}

/** `0,30`, `1-5`, `8-18/2`: one run where the distance is even, else the neighbours together. */
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
