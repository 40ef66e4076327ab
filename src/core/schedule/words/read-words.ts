import type { CalendarRule } from '../calendar/calendar-rule.ts'
import { refuseImpossibleDays } from '../calendar/possible-days.ts'
import { readField } from '../cron/cron-field.ts'
import { HOUR, MINUTE, MONTH, MONTH_DAY, SECOND, WEEKDAY } from '../cron/cron-units.ts'
import { Refusal } from '../rule/rule-error.ts'
import { MOST_TIMES } from './describe-times.ts'
import { readSentence, type Sentence } from './sentence.ts'

/** An interval, where the words name one that no clock has. */
export type Spoken = CalendarRule | { readonly intervalMs: number }

const UNIT_MS = { second: 1_000, minute: 60_000, hour: 3_600_000 } as const

/** Reads `weekdays at 09:05`, `every 15 minutes between 08:00 and 18:00` and their like. */
export function readWords(text: string): Spoken {
  const sentence = readSentence(text)
  const { rhythm, dates, weekdays, months } = sentence
  const days = {
    monthDay: readField(dates.join() || '*', MONTH_DAY, ''),
    month: readField(months.join() || '*', MONTH, ''),
    weekday: readField(weekdays.join() || '*', WEEKDAY, ''),
  }
  refuseImpossibleDays(days, 'every')
  const hasDays = dates.length + weekdays.length + months.length > 0
  if (rhythm && !sentence.window && !isOnClocks(rhythm)) {
    const { count, unit } = rhythm
    if (!hasDays) return { intervalMs: count * UNIT_MS[unit] }
    const whole = unit === 'hour' ? 24 : 60
    const message = `${count} ${unit}s do not divide ${whole}, so days would begin anywhere`
    throw new Refusal('every', message, `Choose a divisor of ${whole}, or say between when.`)
  }
  return { days, times: timesOf(sentence, text) }
}

type Rhythm = NonNullable<Sentence['rhythm']>

/** Whether it comes out even by the hour or the day, and so can be read off a clock. */
function isOnClocks({ count, unit }: Rhythm): boolean {
  const whole = unit === 'hour' ? 24 : 60
  return count < whole && whole % count === 0
}

function timesOf(sentence: Sentence, text: string): CalendarRule['times'] {
  const { rhythm, window, times, minutes } = sentence
  if (rhythm && times.length > 0) {
    throw new Refusal('every', 'it has a rhythm and times as well', 'Make it two rules.')
  }
  if (rhythm && window) return { kind: 'list', seconds: windowed(rhythm, window) }
  if (window) throw new Refusal('every', 'it says between when but not how often')
  if (rhythm) return rhythmic(rhythm, minutes)
  if (minutes.length > 0) throw new Refusal('every', 'it names minutes but not hours')
  if (times.length > MOST_TIMES) {
    throw new Refusal('every', `it names ${times.length} times; ${MOST_TIMES} are the most`)
  }
  if (times.length > 0) return { kind: 'list', seconds: inOrder(times) }
  if (sentence.meansMidnight) return { kind: 'list', seconds: [0] }
  throw new Refusal('every', 'it does not say at what time', `Write ${text.slice(0, 40)} at 09:00.`)
}

function rhythmic({ count, unit }: Rhythm, minutes: readonly number[]): CalendarRule['times'] {
  const step = count === 1 ? '*' : `*/${count}`
  if (minutes.length > 0 && unit !== 'hour') {
    throw new Refusal('every', 'only hours have minutes', 'Write every 2 hours at minute 5.')
  }
  return {
    kind: 'fields',
    second: unit === 'second' ? readField(step, SECOND, '') : undefined,
    minute: readField({ second: '*', minute: step, hour: minutes.join() || '0' }[unit], MINUTE, ''),
    hour: readField(unit === 'hour' ? step : '*', HOUR, ''),
  }
}

/** From the beginning of the window on, and at its end if the rhythm meets it. */
function windowed({ count, unit }: Rhythm, [from, to]: readonly [number, number]): number[] {
  if (unit === 'second') {
    throw new Refusal('every', 'a window is for minutes and hours', 'Write it as cron.')
  }
  if (from >= to) {
    const hint = 'A window lies within a day; make it two rules if it goes over midnight.'
    throw new Refusal('every', 'its window ends before it begins', hint)
  }
  const step = (count * UNIT_MS[unit]) / 1_000
  return Array.from(
    { length: Math.floor((to - from) / step) + 1 },
    (_, index) => from + index * step,
  )
}

function inOrder(times: readonly number[]): number[] {
  return [...new Set(times)].sort((a, b) => a - b)
}
