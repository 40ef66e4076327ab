import type { DaySpecial } from '../calendar/plan.ts'
import { quoted } from '../rule/rule-error.ts'
import { MONTH_DAY, WEEKDAY } from './cron-units.ts'
import { readRangeEnds, readValue, refuse, stepped } from './cron-value.ts'

/** What one item stands for: a day, or one for each weekday of a range. */
export interface SpecialDays {
  readonly specials: readonly DaySpecial[]
  /** As each of them is written. */
  readonly texts: readonly string[]
}

const LAST_DAY = /^L(?:-(\d+))?$/
const NEAREST_WORKING = /^(\d+)W$/
const LAST_WEEKDAY = /^(?:(\d+|[A-Z]+?)L|(\d+|[A-Z]+)(?:-(\d+|[A-Z]+))?#L)$/
const NTH_WEEKDAY = /^(\d+|[A-Z]+)(?:-(\d+|[A-Z]+))?#(\d+)$/

/** `L`, `L-3`, `LW`, `15W`. */
export function readSpecialMonthDay(item: string): SpecialDays | undefined {
  if (item === 'LW' || item === 'WL') return { specials: [{ kind: 'last-working' }], texts: ['LW'] }
  const last = LAST_DAY.exec(item)
  if (last) {
    const back = Number(last[1] ?? 0)
    if (back > 30) throw refuse(MONTH_DAY, `no month has ${quoted(item)}`, 'Write L-30 at most.')
    return { specials: [{ kind: 'last', back }], texts: [back > 0 ? `L-${back}` : 'L'] }
  }
  const working = NEAREST_WORKING.exec(item)
  if (!working) return undefined
  const day = readValue(working[1]!, MONTH_DAY)
  return { specials: [{ kind: 'nearest-working', day }], texts: [`${day}W`] }
}

/** `5L`, `FRIL`, `FRI#L`, `5#2`; a range stands for each of its weekdays: `MON-FRI#1`, `SAT-SUN#L`. */
export function readSpecialWeekday(item: string): SpecialDays | undefined {
  if (item === 'L') {
    throw refuse(WEEKDAY, 'L does not say the last of what', 'Write 5L for the last Friday.')
  }
  const last = LAST_WEEKDAY.exec(item)
  if (last) {
    const weekdays = readWeekdays(item, (last[1] ?? last[2])!, last[3])
    return {
      specials: weekdays.map((weekday) => ({ kind: 'last-weekday', weekday })),
      texts: weekdays.map((weekday) => `${weekday}L`),
    }
  }
  const [, low, high, number] = NTH_WEEKDAY.exec(item) ?? []
  if (low === undefined) return undefined
  const weekdays = readWeekdays(item, low, high)
  const nth = Number(number)
  if (nth < 1 || nth > 5) {
    const hint = `Write ${weekdays[0]}#1 to ${weekdays[0]}#5, or ${weekdays[0]}L for the last one.`
    throw refuse(WEEKDAY, `no month has ${quoted(item)}`, hint)
  }
  return {
    specials: weekdays.map((weekday) => ({ kind: 'nth-weekday', weekday, nth })),
    texts: weekdays.map((weekday) => `${weekday}#${nth}`),
  }
}

function readWeekdays(item: string, low: string, high: string | undefined): readonly number[] {
  const first = readValue(low, WEEKDAY)
  if (high === undefined) return [first % 7]
  const { from, to } = readRangeEnds(item, first, readValue(high, WEEKDAY), WEEKDAY)
  return stepped(from, to, 1).map((weekday) => weekday % 7)
}
