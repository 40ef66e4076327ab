import { readField, type CronField } from './cron-field.ts'
import { HOUR, MINUTE, MONTH, MONTH_DAY, SECOND, WEEKDAY } from './cron-units.ts'
import { daysIn, everyMonth } from './month-days.ts'
import { bitsOf, sixtyBitsOf, type Days, type Plan } from './plan.ts'
import { nearest, quoted, Refusal } from './refusal.ts'

export interface CronFields {
  /** Absent in an expression of five fields. */
  readonly second: CronField | undefined
  readonly minute: CronField
  readonly hour: CronField
  readonly monthDay: CronField
  readonly month: CronField
  readonly weekday: CronField
}

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

export function readCron(text: string, seed: string): CronFields {
  const fields = words(text)
  if (fields.length !== 5 && fields.length !== 6) throw wrongCount(text, fields.length)
  const all = fields.length === 5 ? [undefined, ...fields] : fields
  const [second, minute, hour, monthDay, month, weekday] = all.map((field, index) =>
    field === undefined ? undefined : readField(field, UNITS[index]!, seed),
  )
  const read = { second, minute, hour, monthDay, month, weekday } as CronFields
  refuseImpossibleDays(read)
  return read
}

export function writeCron(fields: CronFields): string {
  const { second, minute, hour, monthDay, month, weekday } = fields
  return [second, minute, hour, monthDay, month, weekday]
    .flatMap((field) => (field === undefined ? [] : [field.text]))
    .join(' ')
}

export function planOf(fields: CronFields): Plan {
  return {
    days: daysOf(fields),
    times: [
      {
        hours: bitsOf(fields.hour.values),
        minutes: sixtyBitsOf(fields.minute.values),
        seconds: sixtyBitsOf(fields.second?.values ?? [0]),
      },
    ],
    hoursAreWild: fields.hour.isWild,
    minutesAreWild: fields.minute.isWild,
  }
}

function daysOf({ monthDay, month, weekday }: CronFields): Days {
  return {
    months: bitsOf(month.values, 1),
    monthDays: bitsOf(monthDay.values, 1),
    monthDaySpecials: monthDay.specials,
    weekdays: bitsOf(weekday.values),
    weekdaySpecials: weekday.specials,
    isEither: !monthDay.isOpen && !weekday.isOpen,
  }
}

function words(text: string): string[] {
  if (text.length > MAX_LENGTH) {
    throw new Refusal('cron', `it has ${text.length} characters; ${MAX_LENGTH} are the most`)
  }
  const foreign = FOREIGN.exec(text)?.[0]
  if (foreign !== undefined) {
    const code = foreign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
    const message = `the character U+${code} has no meaning in it`
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

/** Every month there can be is tried, so that what is let through does come. */
function refuseImpossibleDays(fields: CronFields): void {
  const days = daysOf(fields)
  for (const month of everyMonth()) {
    if (days.months & (1 << month.month) && daysIn(days, month) !== 0) return
  }
  const { monthDay, month, weekday } = fields
  const message = `it never fires: no ${month.text} month has the day ${monthDay.text}`
  const both = weekday.text === '*' ? '' : ` that is also ${weekday.text} of the week`
  const hint = 'Write L for the last day of a month.'
  throw new Refusal('cron', `${message}${both}`, hint)
}
