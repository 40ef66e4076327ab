import type { DaySpecial } from '../calendar/plan.ts'
import { excerptOf } from '../rule/rule-error.ts'
import { MONTH_DAY_UNIT, WEEKDAY_UNIT } from './cron-units.ts'
import { readRangeEnds, readValue, refuse, stepped } from './cron-value.ts'

/** The meaning of one item: a day, or one for each weekday of a range. */
export interface SpecialDays {
  readonly specials: readonly DaySpecial[]
  /** The normalised text of each. */
  readonly texts: readonly string[]
}

const LAST_DAY = /^L(?:-(\d+))?(W)?$/
const UP_TO_LAST = /^(\d+)-L(\/\d+)?$/
const NEAREST_WORKING = /^(\d+)W$/
const LAST_WEEKDAY = /^(\d+|[A-Z]+?)(?:-(\d+|[A-Z]+?))?#?L$/
/** croniter's notation for the last Friday. */
const LAST_BEFORE_DAY = /^L([0-7])$/
const NTH_WEEKDAY = /^(\d+|[A-Z]+)(?:-(\d+|[A-Z]+))?#(\d+)$/

/** Reads `L`, `L-3`, `LW`, `L-3W`, `15W`. */
export function readSpecialMonthDay(item: string): SpecialDays | undefined {
  const last = LAST_DAY.exec(item === 'WL' ? 'LW' : item)
  if (last) {
    const back = Number(last[1] ?? 0)
    if (back > 30)
      throw refuse(MONTH_DAY_UNIT, `no month has ${excerptOf(item)}`, 'Write L-30 at most.')
    const kind = last[2] === undefined ? 'last' : 'last-working'
    const text = `L${back > 0 ? `-${back}` : ''}${last[2] ?? ''}`
    return { specials: [{ kind, back }], texts: [text] }
  }
  const [, first, step = ''] = UP_TO_LAST.exec(item) ?? []
  if (first !== undefined) {
    const hint = `Write ${first}-31${step}: days that a month does not have are left out.`
    throw refuse(MONTH_DAY_UNIT, `${excerptOf(item)} is not understood`, hint)
  }
  const working = NEAREST_WORKING.exec(item)
  if (!working) return undefined
  const day = readValue(working[1]!, MONTH_DAY_UNIT)
  return { specials: [{ kind: 'nearest-working', day }], texts: [`${day}W`] }
}

/** Reads `5L`, `FRIL`, `FRI#L`, `5#2`; a range stands for each of its weekdays: `MON-FRI#1`, `FRI-SUNL`. */
export function readSpecialWeekday(item: string): SpecialDays | undefined {
  if (item === 'L') {
    throw refuse(WEEKDAY_UNIT, 'L needs a weekday', 'Write 5L for the last Friday.')
  }
  const last = LAST_WEEKDAY.exec(item)
  if (last) {
    const weekdays = readWeekdays(item, last[1]!, last[2])
    return {
      specials: weekdays.map((weekday) => ({ kind: 'last-weekday', weekday })),
      texts: weekdays.map((weekday) => `${weekday}L`),
    }
  }
  const [, day] = LAST_BEFORE_DAY.exec(item) ?? []
  if (day !== undefined) {
    throw refuse(
      WEEKDAY_UNIT,
      `${excerptOf(item)} is not understood`,
      `Write ${day}L for the last one.`,
    )
  }
  const [, low, high, number] = NTH_WEEKDAY.exec(item) ?? []
  if (low === undefined) return undefined
  const weekdays = readWeekdays(item, low, high)
  const nth = Number(number)
  if (nth < 1 || nth > 5) {
    const hint = `Write ${weekdays[0]}#1 to ${weekdays[0]}#5, or ${weekdays[0]}L for the last one.`
    throw refuse(WEEKDAY_UNIT, `no month has ${excerptOf(item)}`, hint)
  }
  return {
    specials: weekdays.map((weekday) => ({ kind: 'nth-weekday', weekday, nth })),
    texts: weekdays.map((weekday) => `${weekday}#${nth}`),
  }
}

function readWeekdays(item: string, low: string, high: string | undefined): readonly number[] {
  const first = readValue(low, WEEKDAY_UNIT)
  if (high === undefined) return [first % 7]
  const { from, to } = readRangeEnds(item, first, readValue(high, WEEKDAY_UNIT), WEEKDAY_UNIT)
  return stepped(from, to, 1).map((weekday) => weekday % 7)
}
