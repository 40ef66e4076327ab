import type { DayFields, CronField } from '../calendar/calendar-rule.ts'
import type { DaySpecial } from '../calendar/plan.ts'
import { nth, ordinal } from './vocabulary.ts'
import { MONTHS, WEEKDAYS } from '../calendar/calendar-names.ts'
import { joinWords } from '../../text/join-words.ts'

const EVERY_MONTH = 12
const OF_THE_MONTH = ' of the month'

/** `weekdays`, `the 1st and 15th of the month`; empty for every day. */
export function describeDays({ monthDay, month, weekday }: DayFields): string {
  const isAnyDate = monthDay.values.length === 31
  const isAnyWeekday = weekday.values.length === 7
  const months = month.values.length === EVERY_MONTH ? '' : monthNames(month.values)
  // If the phrase ends with names of weekdays, the months are added at the end.
  const hasNamedWeekdays = !isAnyWeekday && weekday.values.length > 0
  const within = hasNamedWeekdays ? '' : months
  const days = [
    ...(isAnyDate ? [] : [monthDays(monthDay, within)]),
    ...(isAnyWeekday ? [] : [weekdays(weekday, within)]),
  ]
  const isEither = !monthDay.isOpen && !weekday.isOpen
  if (isEither && (isAnyDate || isAnyWeekday)) return months && `every day in ${months}`
  const phrase = days.join(isEither ? ' or ' : ' if they are ')
  // A phrase about days of a month already contains the months.
  if (months === '' || (phrase !== '' && phrase.endsWith(` of ${months}`))) return phrase
  return `${phrase || 'every day'} in ${months}`
}

function monthDays({ values, specials }: CronField, months: string): string {
  const dates = values.map(ordinal)
  const all = [...(dates.length > 0 ? [`the ${joinWords(dates)}`] : []), ...specials.map(special)]
  return `${joinWords(all)}${ofMonths(months)}`
}

function weekdays({ values, specials }: CronField, months: string): string {
  const all = [
    ...(specials.length > 0 ? [`${joinWords(specials.map(special))}${ofMonths(months)}`] : []),
    ...(values.length > 0 ? [weekdayNames(values)] : []),
  ]
  return joinWords(all.toReversed())
}

function ofMonths(months: string): string {
  return months === '' ? OF_THE_MONTH : ` of ${months}`
}

function monthNames(values: readonly number[]): string {
  const names = values.map((value) => MONTHS[value - 1]!)
  return isRun(values) ? `${names[0]} to ${names.at(-1)}` : joinWords(names)
}

/** Weekdays are listed from Monday on. */
function weekdayNames(values: readonly number[]): string {
  const days = values.map((value) => value || 7).toSorted((a, b) => a - b)
  if (days.join() === '1,2,3,4,5') return 'weekdays'
  if (days.join() === '6,7') return 'weekends'
  const names = days.map((day) => WEEKDAYS[day % 7]!)
  return isRun(days) ? `${names[0]} to ${names.at(-1)}` : joinWords(names.map((name) => `${name}s`))
}

function isRun(values: readonly number[]): boolean {
  return values.length > 2 && values.every((value, index) => value === values[0]! + index)
}

function special(day: DaySpecial): string {
  switch (day.kind) {
    case 'last':
      if (day.back === 0) return 'the last day'
      return `${day.back} day${day.back === 1 ? '' : 's'} before the last day`
    case 'last-working':
      if (day.back === 0) return 'the last weekday'
      return `the weekday nearest ${day.back} day${day.back === 1 ? '' : 's'} before the last day`
    case 'nearest-working':
      return day.day === 1 ? 'the first weekday' : `the weekday nearest the ${ordinal(day.day)}`
    case 'last-weekday':
      return `the last ${WEEKDAYS[day.weekday]}`
    case 'nth-weekday':
      return `the ${nth(day.nth)} ${WEEKDAYS[day.weekday]}`
  }
}
