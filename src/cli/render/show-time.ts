import { formatDuration } from '../../core/text/duration.ts'

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const
const MONTHS = [
  ...(['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun'] as const),
  ...(['Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const),
] as const
const LOCAL = /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d)(?::(\d\d)[.\d]*)?(.*)$/

/**
 * A time in a zone, for people: `Sat 15 Nov 02:00 +02:00`; with the year if it is not the current
 * one.
 */
export function clockTime(local: string, now: number): string {
  const [, year, month, day, time, second = '00', offset] = LOCAL.exec(local) ?? []
  const weekday = DAYS[new Date(`${year}-${month}-${day}T00:00:00Z`).getUTCDay()]
  const isThisYear = new Date(now).getUTCFullYear() === Number(year)
  const date = `${weekday} ${Number(day)} ${MONTHS[Number(month) - 1]}${isThisYear ? '' : ` ${year}`}`
  return `${date} ${time}${second === '00' ? '' : `:${second}`} ${offset}`
}

export function instantIn(time: string, zone: string, now: number): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    timeZoneName: 'longOffset',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  const parts = format.formatToParts(Date.parse(time)).map(({ type, value }) => [type, value])
  const {
    year,
    month,
    day,
    hour,
    minute,
    second,
    timeZoneName = '',
  } = Object.fromEntries(parts) as Record<string, string>
  const offset = timeZoneName.replace('GMT', '') || '+00:00'
  return clockTime(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`, now)
}

/** The distance from now: `in 13h`, `3m ago`, or `now`. */
export function distance(time: string, now: number): string {
  const ms = Date.parse(time) - now
  if (ms < 0 && ms > -1_000) return 'now'
  return ms >= 0 ? `in ${formatDuration(ms)}` : `${formatDuration(-ms)} ago`
}
