import type { CalendarRule } from '../calendar/calendar-rule.ts'
import { describeDays } from './describe-days.ts'
import { describeTimes } from './describe-times.ts'
import { joinWords } from '../../text/join-words.ts'

/** Maximum number of years that are listed one by one. */
const MAX_LISTED_YEARS = 6

/** A rule in plain English: `weekdays at 09:05`, `every 15 minutes between 08:00 and 18:00`. */
export function describeRule(rule: CalendarRule): string {
  const { year } = rule.days
  return year ? `${describeYearly(rule)} in ${describeYears(year.values)}` : describeYearly(rule)
}

function describeYears(years: readonly number[]): string {
  const [first = 0] = years
  const last = years.at(-1)!
  if (years.length > 2 && last - first === years.length - 1) return `${first} to ${last}`
  if (years.length <= MAX_LISTED_YEARS) return joinWords(years.map(String))
  return `${years.length} of the years ${first} to ${last}`
}

function describeYearly({ days, times }: CalendarRule): string {
  const when = describeDays(days)
  const { text, comesFirst } = describeTimes(times)
  if (!comesFirst) return `${when || 'every day'} ${text}`
  if (when === '') return text
  return when.startsWith('every day in ')
    ? `${text} ${when.replace('every day ', '')}`
    : `${text} on ${when}`
}
