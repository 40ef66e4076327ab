import type { CalendarRule } from '../calendar/calendar-rule.ts'
import { refuseImpossibleDays } from '../calendar/possible-days.ts'
import { readField } from '../cron/cron-field.ts'
import {
  HOUR_UNIT,
  MINUTE_UNIT,
  MONTH_UNIT,
  MONTH_DAY_UNIT,
  SECOND_UNIT,
  WEEKDAY_UNIT,
  YEAR_UNIT,
} from '../cron/cron-units.ts'
import { RuleError } from '../rule/rule-error.ts'
import { MAX_LISTED_TIMES } from './describe-times.ts'
import { readSentence, type Sentence } from './sentence.ts'

/** The rule that words stand for; an interval if it cannot be read off a clock. */
export type ParsedWords = CalendarRule | { readonly intervalMs: number }

const UNIT_MS = { second: 1_000, minute: 60_000, hour: 3_600_000 } as const

/** Reads phrases such as `weekdays at 09:05` and `every 15 minutes between 08:00 and 18:00`. */
export function readWords(text: string): ParsedWords {
  const sentence = readSentence(text)
  const { interval, dates, weekdays, months, years } = sentence
  const days = {
    monthDay: readField(dates.join() || '*', MONTH_DAY_UNIT, ''),
    month: readField(months.join() || '*', MONTH_UNIT, ''),
    weekday: readField(weekdays.join() || '*', WEEKDAY_UNIT, ''),
    ...(years.length > 0 && { year: readField(years.join(), YEAR_UNIT, '') }),
  }
  refuseImpossibleDays(days, 'every')
  const hasDays = dates.length + weekdays.length + months.length + years.length > 0
  if (interval && !sentence.window && !isOnClocks(interval)) {
    const { count, unit } = interval
    if (!hasDays) return { intervalMs: count * UNIT_MS[unit] }
    const whole = unit === 'hour' ? 24 : 60
    const message = `${count} ${unit}s do not divide ${whole}, so the times would drift from day to day`
    throw new RuleError(
      'every',
      message,
      `Choose a divisor of ${whole}, or add a window with between.`,
    )
  }
  return { days, times: timesInSentence(sentence, text) }
}

type Interval = NonNullable<Sentence['interval']>

/** Whether the interval divides an hour or a day evenly, and can thus be read off a clock. */
function isOnClocks({ count, unit }: Interval): boolean {
  const whole = unit === 'hour' ? 24 : 60
  return count < whole && whole % count === 0
}

function timesInSentence(sentence: Sentence, text: string): CalendarRule['times'] {
  const { interval, window, times, minutes } = sentence
  if (interval && times.length > 0) {
    throw new RuleError('every', 'it has both an interval and times of day', 'Make it two rules.')
  }
  if (interval && window) return { kind: 'list', seconds: windowed(interval, window) }
  if (window) throw new RuleError('every', 'it has a window but not how often')
  if (interval) return intervalTimes(interval, minutes)
  if (minutes.length > 0) throw new RuleError('every', 'it names minutes but not hours')
  if (times.length > MAX_LISTED_TIMES) {
    throw new RuleError(
      'every',
      `it names ${times.length} times; at most ${MAX_LISTED_TIMES} are allowed`,
    )
  }
  if (times.length > 0) return { kind: 'list', seconds: inOrder(times) }
  if (sentence.meansMidnight) return { kind: 'list', seconds: [0] }
  throw new RuleError(
    'every',
    'it does not say at what time',
    `Write ${text.slice(0, 40)} at 09:00.`,
  )
}

function intervalTimes(
  { count, unit }: Interval,
  minutes: readonly number[],
): CalendarRule['times'] {
  const step = count === 1 ? '*' : `*/${count}`
  if (minutes.length > 0 && unit !== 'hour') {
    throw new RuleError('every', 'only hours have minutes', 'Write every 2 hours at minute 5.')
  }
  return {
    kind: 'fields',
    second: unit === 'second' ? readField(step, SECOND_UNIT, '') : undefined,
    minute: readField(
      { second: '*', minute: step, hour: minutes.join() || '0' }[unit],
      MINUTE_UNIT,
      '',
    ),
    hour: readField(unit === 'hour' ? step : '*', HOUR_UNIT, ''),
  }
}

/** The times from the beginning of the window, including its end if the interval meets it. */
function windowed({ count, unit }: Interval, [from, to]: readonly [number, number]): number[] {
  if (unit === 'second') {
    throw new RuleError('every', 'a window is for minutes and hours', 'Write it as cron.')
  }
  if (from >= to) {
    const hint = 'A window lies within a day; make it two rules if it goes over midnight.'
    throw new RuleError('every', 'its window ends before it begins', hint)
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
