/** A field of a cron expression: its name and its values. */
export interface CronUnit {
  readonly name: 'second' | 'minute' | 'hour' | 'day of month' | 'month' | 'day of week' | 'year'
  readonly first: number
  readonly last: number
  /** The names of the values, starting at `first`. */
  readonly names: readonly string[]
  readonly fullNames: readonly string[]
}

export const MONTH_NAMES = [
  'JAN',
  'FEB',
  'MAR',
  'APR',
  'MAY',
  'JUN',
  'JUL',
  'AUG',
  'SEP',
  'OCT',
  'NOV',
  'DEC',
] as const
export const WEEKDAY_NAMES = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const

const FULL_MONTH_NAMES = [
  'JANUARY',
  'FEBRUARY',
  'MARCH',
  'APRIL',
  'MAY',
  'JUNE',
  'JULY',
  'AUGUST',
  'SEPTEMBER',
  'OCTOBER',
  'NOVEMBER',
  'DECEMBER',
] as const
const FULL_WEEKDAY_NAMES = [
  'SUNDAY',
  'MONDAY',
  'TUESDAY',
  'WEDNESDAY',
  'THURSDAY',
  'FRIDAY',
  'SATURDAY',
] as const

export const SECOND_UNIT: CronUnit = {
  name: 'second',
  first: 0,
  last: 59,
  names: [],
  fullNames: [],
}
export const MINUTE_UNIT: CronUnit = {
  name: 'minute',
  first: 0,
  last: 59,
  names: [],
  fullNames: [],
}
export const HOUR_UNIT: CronUnit = { name: 'hour', first: 0, last: 23, names: [], fullNames: [] }
export const MONTH_DAY_UNIT: CronUnit = {
  name: 'day of month',
  first: 1,
  last: 31,
  names: [],
  fullNames: [],
}
export const MONTH_UNIT: CronUnit = {
  name: 'month',
  first: 1,
  last: 12,
  names: MONTH_NAMES,
  fullNames: FULL_MONTH_NAMES,
}
/** Optional last field, with the range of Quartz. */
export const YEAR_UNIT: CronUnit = {
  name: 'year',
  first: 1970,
  last: 2099,
  names: [],
  fullNames: [],
}
/** 7 is also Sunday; readers convert it to 0. */
export const WEEKDAY_UNIT: CronUnit = {
  name: 'day of week',
  first: 0,
  last: 6,
  names: WEEKDAY_NAMES,
  fullNames: FULL_WEEKDAY_NAMES,
}
