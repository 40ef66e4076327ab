/** A field of a cron expression: what it is called, and what may stand in it. */
export interface CronUnit {
  readonly name: 'second' | 'minute' | 'hour' | 'day of month' | 'month' | 'day of week'
  readonly first: number
  readonly last: number
  /** Names in the order of their numbers, from `first` on. */
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

export const SECOND: CronUnit = { name: 'second', first: 0, last: 59, names: [], fullNames: [] }
export const MINUTE: CronUnit = { name: 'minute', first: 0, last: 59, names: [], fullNames: [] }
export const HOUR: CronUnit = { name: 'hour', first: 0, last: 23, names: [], fullNames: [] }
export const MONTH_DAY: CronUnit = {
  name: 'day of month',
  first: 1,
  last: 31,
  names: [],
  fullNames: [],
}
export const MONTH: CronUnit = {
  name: 'month',
  first: 1,
  last: 12,
  names: MONTH_NAMES,
  fullNames: FULL_MONTH_NAMES,
}
/** 7 is Sunday too; readers make it 0. */
export const WEEKDAY: CronUnit = {
  name: 'day of week',
  first: 0,
  last: 6,
  names: WEEKDAY_NAMES,
  fullNames: FULL_WEEKDAY_NAMES,
}
