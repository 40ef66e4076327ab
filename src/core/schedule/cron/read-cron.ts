import type { CalendarRule, DayFields, TimeFields } from '../calendar/calendar-rule.ts'
import { refuseImpossibleDays } from '../calendar/possible-days.ts'
import { codeOf, nearest, quoted, Refusal } from '../rule/rule-error.ts'
import { readField } from './cron-field.ts'
import { HOUR, MINUTE, MONTH, MONTH_DAY, SECOND, WEEKDAY } from './cron-units.ts'

export type CronRule = CalendarRule & { readonly times: TimeFields }

/** Longer than any sensible list; what is longer is not looked at. */
const MAX_LENGTH = 1_000
const UNITS = [SECOND, MINUTE, HOUR, MONTH_DAY, MONTH, WEEKDAY] as const
const FOREIGN = /[^\t\x20-\x7e]/u

const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** Five fields, or six with the second before them, or a nickname. The seed decides what `H` is. */
export function readCron(text: string, seed: string): CronRule {
  const fields = words(text)
  if (fields.length !== 5 && fields.length !== 6) throw wrongCount(text, fields.length)
  const all = fields.length === 5 ? [undefined, ...fields] : fields
  const [second, minute, hour, monthDay, month, weekday] = all.map((field, index) =>
    field === undefined ? undefined : readField(field, UNITS[index]!, seed),
  )
  const days = { monthDay, month, weekday } as DayFields
  refuseImpossibleDays(days, 'cron')
  return { days, times: { kind: 'fields', second, minute, hour } as TimeFields }
}

/** What `readCron` reads the same again. */
export function writeCron({ times, days }: CronRule): string {
  return [times.second, times.minute, times.hour, days.monthDay, days.month, days.weekday]
    .flatMap((field) => (field === undefined ? [] : [field.text]))
    .join(' ')
}

function words(text: string): string[] {
  if (text.length > MAX_LENGTH) {
    throw new Refusal('cron', `it has ${text.length} characters; ${MAX_LENGTH} are the most`)
  }
  const foreign = FOREIGN.exec(text)?.[0]
  if (foreign !== undefined) {
    const message = `the character ${codeOf(foreign)} has no meaning in it`
    throw new Refusal('cron', message, 'Use the digits 0-9, letters, * / , - # ? ( ) and blanks.')
  }
  const trimmed = text.replaceAll('\t', ' ').trim()
  if (!trimmed.startsWith('@')) return trimmed.split(/ +/)
  const expanded = NICKNAMES[trimmed.toLowerCase()]
  if (expanded === undefined) throw unknownNickname(trimmed)
  return expanded.split(' ')
}

function unknownNickname(name: string): Refusal {
  if (name.toLowerCase() === '@reboot') {
    const hint = 'Run it from the service manager of the machine, or by a job without a schedule.'
    return new Refusal('cron', '@reboot names no time: nothing here boots', hint)
  }
  const known = [...Object.keys(NICKNAMES), '@every']
  const near = nearest(name.split(' ')[0]!, known)
  const hint = near ? `Did you mean ${near}?` : `There are ${known.join(', ')}.`
  return new Refusal('cron', `${quoted(name)} is not known`, hint)
}

function wrongCount(text: string, count: number): Refusal {
  if (text.trim() === '') {
    return new Refusal('cron', 'it is empty', 'Write five fields, as in 0 2 * * 1-5.')
  }
  if (/^(every|daily|hourly|[a-z]+ at)\b/i.test(text.trim())) {
    return new Refusal('cron', `${quoted(text)} is in words`, 'Words are understood by `every`.')
  }
  const hint =
    'Five are minute, hour, day of month, month, day of week; six have the second before them.'
  return new Refusal('cron', `it has ${count} field${count === 1 ? '' : 's'}, not 5 or 6`, hint)
}
