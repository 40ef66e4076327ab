import { bitMaskOf, splitBitMaskOf, type Days, type CalendarPlan, type DaySpecial } from './plan.ts'
import { combineTimes } from './times-of-day.ts'

/** A calendar rule as written: compiled into a plan, and described in words. */
export interface CalendarRule {
  readonly days: DayFields
  readonly times: TimeFields | TimeList
}

export interface DayFields {
  readonly monthDay: CronField
  readonly month: CronField
  readonly weekday: CronField
  /** Absent if the rule names no year. */
  readonly year?: CronField | undefined
}

export interface TimeFields {
  readonly kind: 'fields'
  /** Absent in an expression of five fields. */
  readonly second: CronField | undefined
  readonly minute: CronField
  readonly hour: CronField
}

/** Seconds of the day, ascending and unique. */
export interface TimeList {
  readonly kind: 'list'
  readonly seconds: readonly number[]
}

export function compilePlan({ days, times }: CalendarRule): CalendarPlan {
  if (times.kind === 'list') {
    const combinations = combineTimes(times.seconds)
    const isWild = { hoursAreWild: false, minutesAreWild: false }
    return { days: daysOf(days), times: combinations, ...isWild }
  }
  return {
    days: daysOf(days),
    times: [
      {
        hours: bitMaskOf(times.hour.values),
        minutes: splitBitMaskOf(times.minute.values),
        seconds: splitBitMaskOf(times.second?.values ?? [0]),
      },
    ],
    hoursAreWild: times.hour.isWild,
    minutesAreWild: times.minute.isWild,
  }
}

export function daysOf({ monthDay, month, weekday, year }: DayFields): Days {
  return {
    years: year?.values ?? null,
    months: bitMaskOf(month.values, 1),
    monthDays: bitMaskOf(monthDay.values, 1),
    monthDaySpecials: monthDay.specials,
    weekdays: bitMaskOf(weekday.values),
    weekdaySpecials: weekday.specials,
    isEither: !monthDay.isOpen && !weekday.isOpen,
  }
}

export interface CronField {
  /** Ascending and unique. */
  readonly values: readonly number[]
  readonly specials: readonly DaySpecial[]
  /** Consists only of `*`, with or without a step. */
  readonly isWild: boolean
  /** Starts with `*`; for days this means that the field is not restricted. */
  readonly isOpen: boolean
  /** The normalised text: equal fields have equal text. */
  readonly text: string
}
