/**
 * The simplest possible cron: tries every value of a field and checks every day by itself. It shares no code
 * with the product, so both agree only if both are right. It reads only what the cases use and validates
 * nothing.
 */
export interface SimpleCron {
  readonly hasSeconds: boolean
  /** Whether the hours and minutes consist only of stars, with or without a step. */
  readonly starHours: boolean
  readonly starMinutes: boolean
  /** Whether a second of local time, counted as if it were UTC, matches. */
  matches(localSecond: number): boolean
  /** Whether a day matches, counted from 1970-01-01. */
  dayMatches(day: number): boolean
}

const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ')
const WEEKDAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ')
const ONLY_STARS = /^\*(\/\d+)?(,\*(\/\d+)?)*$/

export function readSimpleCron(text: string): SimpleCron {
  const fields = text.toUpperCase().split(' ')
  const [second, minute, hour, date, month, weekday] = (
    fields.length === 6 ? fields : ['0', ...fields]
  ) as [string, string, string, string, string, string]
  const seconds = list(second, 0, 59)
  const minutes = list(minute, 0, 59)
  const hours = list(hour, 0, 23)
  const months = list(month, 1, 12, MONTHS)
  const eitherDay = !/^[*?]/.test(date) && !/^[*?]/.test(weekday)
  const days = new Map<number, boolean>()

  function dayMatches(day: number): boolean {
    const at = new Date(day * 86_400_000)
    if (!months[at.getUTCMonth() + 1]) return false
    const byDate = date.split(',').some((item) => dateMatches(item, at))
    const byWeekday = weekday.split(',').some((item) => weekdayMatches(item, at))
    return eitherDay ? byDate || byWeekday : byDate && byWeekday
  }

  return {
    hasSeconds: fields.length === 6,
    starHours: ONLY_STARS.test(hour),
    starMinutes: ONLY_STARS.test(minute),
    dayMatches,
    matches(localSecond) {
      const day = Math.floor(localSecond / 86_400)
      const time = localSecond - day * 86_400
      if (!seconds[time % 60] || !minutes[Math.floor(time / 60) % 60]) return false
      if (!hours[Math.floor(time / 3_600)]) return false
      const known = days.get(day) ?? dayMatches(day)
      days.set(day, known)
      return known
    },
  }
}

/** For each value of a field, whether it is included. */
function list(field: string, low: number, high: number, names: string[] = []): boolean[] {
  const meant: boolean[] = []
  for (let value = 0; value <= high; value++) {
    meant.push(value >= low && field.split(',').some((item) => has(item, value, low, high, names)))
  }
  return meant
}

function has(item: string, value: number, low: number, high: number, names: string[]): boolean {
  const [range = '', step] = item.split('/')
  const number = (text: string) => (names.includes(text) ? names.indexOf(text) + low : Number(text))
  const [from = '', to] = range.split('-')
  let first = low
  let last = high
  if (range !== '*' && range !== '?') {
    first = number(from)
    if (to !== undefined) last = number(to)
    else if (step === undefined) last = first
  }
  return value >= first && value <= last && (value - first) % Number(step ?? 1) === 0
}

function dateMatches(item: string, at: Date): boolean {
  const date = at.getUTCDate()
  const last = lastDate(at)
  if (item === 'LW') return workingDay(last, at) === date
  if (item.startsWith('L')) return date === last - Number(item.slice(2) || 0)
  if (item.endsWith('W')) return workingDay(Number(item.slice(0, -1)), at) === date
  return has(item, date, 1, 31, [])
}

function weekdayMatches(item: string, at: Date): boolean {
  const weekday = at.getUTCDay()
  const date = at.getUTCDate()
  const isIt = (text: string) =>
    (WEEKDAYS.indexOf(text) + 7) % 7 === weekday && WEEKDAYS.includes(text)
  const isNumber = (text: string) => /^\d$/.test(text) && Number(text) % 7 === weekday
  const [name = '', nth] = item.split('#')
  if (nth !== undefined) {
    return (isIt(name) || isNumber(name)) && Math.ceil(date / 7) === Number(nth)
  }
  if (/^.+L$/.test(item)) {
    const day = item.slice(0, -1)
    return (isIt(day) || isNumber(day)) && date + 7 > lastDate(at)
  }
  // Sunday is 0 and 7, and a range may end with it by name.
  const ending = item.replace(/-SUN\b/, '-7')
  return has(ending, weekday, 0, 7, WEEKDAYS) || (weekday === 0 && has(ending, 7, 0, 7, WEEKDAYS))
}

function lastDate(at: Date): number {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate()
}

/** The working day of a month nearest to the given date. */
function workingDay(date: number, at: Date): number | undefined {
  const last = lastDate(at)
  if (date > last) return undefined
  for (const distance of [0, -1, 1, -2, 2]) {
    const candidate = date + distance
    const day = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), candidate)).getUTCDay()
    if (candidate >= 1 && candidate <= last && day !== 0 && day !== 6) return candidate
  }
  return undefined
}
