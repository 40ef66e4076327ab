import { Refusal } from '../rule/rule-error.ts'
import { listed, MONTHS } from '../words/vocabulary.ts'
import { daysOf, type DayFields } from './calendar-rule.ts'
import { daysIn, everyMonth } from './month-days.ts'

/** Refuses days that no calendar has. Every month there can be is tried, so what is let through comes. */
export function refuseImpossibleDays(fields: DayFields, field: 'cron' | 'every'): void {
  const days = daysOf(fields)
  for (const month of everyMonth()) {
    if (days.months & (1 << month.month) && daysIn(days, month) !== 0) return
  }
  const { monthDay, month, weekday } = fields
  const names = month.values.map((number) => MONTHS[number - 1]!)
  const months = names.length === 12 ? 'month' : listed(names, 'or')
  const both = weekday.text === '*' ? '' : ` that is also ${weekday.text} as a day of the week`
  const message = `it never fires: no ${months} has a day ${monthDay.text}${both}`
  throw new Refusal(field, message, 'Write L for the last day of a month.')
}
