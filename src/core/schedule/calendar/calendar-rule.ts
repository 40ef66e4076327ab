import type { CronField } from '../cron/cron-field.ts'
import { bitsOf, sixtyBitsOf, type Days, type Plan } from './plan.ts'
import { timesOf } from './times-of-day.ts'

/** A rule of the calendar as it was stated: what is compiled into a plan, and told in words. */
export interface CalendarRule {
  readonly days: DayFields
  readonly times: TimeFields | TimeList
}

export interface DayFields {
  readonly monthDay: CronField
  readonly month: CronField
  readonly weekday: CronField
}

export interface TimeFields {
  readonly kind: 'fields'
  /** Absent in an expression of five fields. */
  readonly second: CronField | undefined
  readonly minute: CronField
  readonly hour: CronField
}

/** Seconds of the day, in order, each once. */
export interface TimeList {
  readonly kind: 'list'
  readonly seconds: readonly number[]
}

export function planOf({ days, times }: CalendarRule): Plan {
  if (times.kind === 'list') {
    const combinations = timesOf(times.seconds)
    const isWild = { hoursAreWild: false, minutesAreWild: false }
    return { days: daysOf(days), times: combinations, ...isWild }
  }
  return {
    days: daysOf(days),
    times: [
      {
        hours: bitsOf(times.hour.values),
        minutes: sixtyBitsOf(times.minute.values),
        seconds: sixtyBitsOf(times.second?.values ?? [0]),
      },
    ],
    hoursAreWild: times.hour.isWild,
    minutesAreWild: times.minute.isWild,
  }
}

export function daysOf({ monthDay, month, weekday }: DayFields): Days {
  return {
    months: bitsOf(month.values, 1),
    monthDays: bitsOf(monthDay.values, 1),
    monthDaySpecials: monthDay.specials,
    weekdays: bitsOf(weekday.values),
    weekdaySpecials: weekday.specials,
    isEither: !monthDay.isOpen && !weekday.isOpen,
  }
}
