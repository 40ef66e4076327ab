/** Words that schedules are spoken in: what is read, and what is said. */

export const WEEKDAYS = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
] as const
export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const
const NTH = ['first', 'second', 'third', 'fourth', 'fifth'] as const

/** 0 for Sunday; `monday`, `mondays`, `mon`. */
export function weekdayNamed(word: string | undefined): number | undefined {
  return named(WEEKDAYS, word?.replace(/s$/, '')) ?? named(WEEKDAYS, word)
}

/** 1 for January. */
export function monthNamed(word: string | undefined): number | undefined {
  const index = named(MONTHS, word)
  return index === undefined ? undefined : index + 1
}

function named(names: readonly string[], word: string | undefined): number | undefined {
  const index = names.findIndex((name) => {
    const lower = name.toLowerCase()
    return word === lower || word === lower.slice(0, 3)
  })
  return index < 0 ? undefined : index
}

/** `first`, `1st`, `31st`, or `last`. */
export function ordinalNamed(word: string | undefined): number | 'last' | undefined {
  if (word === 'last') return 'last'
  const index = NTH.findIndex((name) => name === word)
  if (index >= 0) return index + 1
  const [, digits] = /^(\d{1,2})(?:st|nd|rd|th)$/.exec(word ?? '') ?? []
  return digits === undefined ? undefined : Number(digits)
}

/** `second`, of weekdays. */
export function nth(number: number): string {
  return NTH[number - 1]!
}

/** `22nd`, of days. */
export function ordinal(number: number): string {
  const tens = Math.floor(number / 10)
  const suffix = tens === 1 ? undefined : { 1: 'st', 2: 'nd', 3: 'rd' }[number % 10]
  return `${number}${suffix ?? 'th'}`
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[], last = 'and'): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`
}

/** Words that mean something somewhere in a sentence: what a misspelled one is compared with. */
export const KNOWN_WORDS: readonly string[] = [
  ...WEEKDAYS.flatMap((day) => [day.toLowerCase(), `${day.toLowerCase()}s`]),
  ...MONTHS.map((month) => month.toLowerCase()),
  ...NTH,
  ...['every', 'hourly', 'daily', 'weekly', 'monthly', 'yearly', 'weekday', 'weekdays'],
  ...['weekend', 'weekends', 'between', 'second', 'seconds', 'minute', 'minutes', 'hour', 'hours'],
  ...['day', 'days', 'month', 'noon', 'midnight', 'last', 'nearest', 'after', 'finish'],
]
