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

function named(names: readonly string[], word: string | undefined): number | undefined {
  const index = names.findIndex((name) => {
    const lower = name.toLowerCase()
    return word === lower || word === lower.slice(0, 3)
  })
  return index < 0 ? undefined : index
}

/** 0 for Sunday; accepts `monday`, `mondays`, `mon`. */
export function weekdayNamed(word: string | undefined): number | undefined {
  return named(WEEKDAYS, word?.replace(/s$/, '')) ?? named(WEEKDAYS, word)
}

/** 1 for January. */
export function monthNamed(word: string | undefined): number | undefined {
  const index = named(MONTHS, word)
  return index === undefined ? undefined : index + 1
}
