import type { CalendarRule } from '../calendar/calendar-rule.ts'
import { describeDays } from './describe-days.ts'
import { describeTimes } from './describe-times.ts'

/** A rule in plain English: `weekdays at 09:05`, `every 15 minutes between 08:00 and 18:00`. */
export function describe({ days, times }: CalendarRule): string {
  const when = describeDays(days)
  const { text, comesFirst } = describeTimes(times)
  if (!comesFirst) return `${when || 'every day'} ${text}`
  if (when === '') return text
  return when.startsWith('every day in ')
    ? `${text} ${when.replace('every day ', '')}`
    : `${text} on ${when}`
}
