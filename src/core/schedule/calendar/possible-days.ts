import { RuleError } from '../rule/rule-error.ts'
import { MONTHS } from './calendar-names.ts'
import { joinWords } from '../../text/join-words.ts'
import { daysOf, type DayFields } from './calendar-rule.ts'
import { daysIn, everyMonth, hasDayIn } from './month-days.ts'

/**
 * Rejects days that never occur, and years without a matching day. Every possible month is tried, so an accepted rule
 * does match some day.
 */
export function refuseImpossibleDays(fields: DayFields, field: 'cron' | 'every'): void {
  const days = daysOf(fields)
  if (days.years) {
    if (days.years.some((year) => hasDayIn(days, year))) return
  } else {
    for (const month of everyMonth()) {
      if (days.months & (1 << month.month) && daysIn(days, month) !== 0) return
    }
  }
  const { monthDay, month, weekday, year } = fields
  const names = month.values.map((number) => MONTHS[number - 1]!)
  const months = names.length === 12 ? 'month' : joinWords(names, 'or')
  const both = weekday.text === '*' ? '' : ` that is also ${weekday.text} as a day of the week`
  const message = `it never fires: no ${months}${year ? ` of ${year.text}` : ''} has a day ${monthDay.text}${both}`
  throw new RuleError(field, message, 'Write L for the last day of a month.')
}
