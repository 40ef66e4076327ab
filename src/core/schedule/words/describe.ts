import type { CalendarRule } from '../calendar/calendar-rule.ts'
import { describeDays } from './describe-days.ts'
import { describeTimes } from './describe-times.ts'
import { joinWords } from '../../text/join-words.ts'

/** A rule in plain English: `weekdays at 09:05`, `every 15 minutes between 08:00 and 18:00`. */
export function describeRule(rule: CalendarRule): string {
  const { year } = rule.days
  return year ? `${describeYearly(rule)} in ${describeYears(year.values)}` : describeYearly(rule)
}

/** `2027`, `2027 and 2029`, `2026 to 2030 and 2040`: every year, so that the words can be read again. */
function describeYears(years: readonly number[]): string {
  const spans: [first: number, last: number][] = []
  for (const year of years) {
    const span = spans.at(-1)
    if (span?.[1] === year - 1) span[1] = year
    else spans.push([year, year])
  }
  return joinWords(
    spans.flatMap(([first, last]) => {
      if (last - first > 1) return [`${first} to ${last}`]
      return last === first ? [`${first}`] : [`${first}`, `${last}`]
    }),
  )
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
