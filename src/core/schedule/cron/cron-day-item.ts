import type { DaySpecial } from '../calendar/plan.ts'
import { quoted } from '../refusal.ts'
import { MONTH_DAY, WEEKDAY } from './cron-units.ts'
import { readValue, refuse } from './cron-value.ts'

export interface SpecialDay {
  readonly special: DaySpecial
  /** As it is written. */
  readonly text: string
}

const LAST_DAY = /^L(?:-(\d+))?$/
const NEAREST_WORKING = /^(\d+)W$/
const LAST_WEEKDAY = /^(\d+|[A-Z]+?)#?L$/
const NTH_WEEKDAY = /^(\d+|[A-Z]+)#(\d+)$/

/** `L`, `L-3`, `LW`, `15W`. */
export function readSpecialMonthDay(item: string): SpecialDay | undefined {
  if (item === 'LW' || item === 'WL') return { special: { kind: 'last-working' }, text: 'LW' }
  const last = LAST_DAY.exec(item)
  if (last) {
    const back = Number(last[1] ?? 0)
    if (back > 30) throw refuse(MONTH_DAY, `no month has ${quoted(item)}`, 'Write L-30 at most.')
    return { special: { kind: 'last', back }, text: back > 0 ? `L-${back}` : 'L' }
  }
  const working = NEAREST_WORKING.exec(item)
  if (!working) return undefined
  const day = readValue(working[1]!, MONTH_DAY)
  return { special: { kind: 'nearest-working', day }, text: `${day}W` }
}

/** `5L`, `FRIL`, `FRI#L`, `5#2`. */
export function readSpecialWeekday(item: string): SpecialDay | undefined {
  if (item === 'L') {
    throw refuse(WEEKDAY, 'L does not say the last of what', 'Write 5L for the last Friday.')
  }
  const last = LAST_WEEKDAY.exec(item)
  if (last) {
    const weekday = readValue(last[1]!, WEEKDAY) % 7
    return { special: { kind: 'last-weekday', weekday }, text: `${weekday}L` }
  }
  const [, name, number] = NTH_WEEKDAY.exec(item) ?? []
  if (name === undefined) return undefined
  const weekday = readValue(name, WEEKDAY) % 7
  const nth = Number(number)
  if (nth < 1 || nth > 5) {
    const hint = `Write ${weekday}#1 to ${weekday}#5, or ${weekday}L for the last one.`
    throw refuse(WEEKDAY, `no month has ${quoted(item)}`, hint)
  }
  return { special: { kind: 'nth-weekday', weekday, nth }, text: `${weekday}#${nth}` }
}
