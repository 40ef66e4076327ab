import { DAY_SECONDS, isLeapYear, startOfYear, weekdayOf, yearOf } from '../calendar/dates.ts'

/**
 * A period with a constant offset. If it ends at a clock change, `after` is the next offset; if it ends only because
 * the search did, `after` equals its own offset.
 */
export interface OffsetPeriod {
  /** All times are in seconds. */
  readonly from: number
  readonly to: number
  readonly before: number
  readonly offset: number
  readonly after: number
}

export interface Zone {
  periodAt(second: number): OffsetPeriod
}

/** No zone has changed twice within this time since 1970, so probing at this distance finds every change. */
const PROBE_SECONDS = 6 * DAY_SECONDS
/**
 * A year is computed a little beyond its ends, because a change at New Year matters on both sides. Less than that is
 * used: the cause of a repeated hour may lie up to a day after it.
 */
const KNOWN_BEYOND = 3 * DAY_SECONDS
const USED_BEYOND = DAY_SECONDS

/** By 2088 the last announced exceptions have passed (Gaza, Casablanca): later years repeat by their type. */
const FIRST_REGULAR_YEAR = 2101
const LAST_REGULAR_YEAR = 2128

const ALWAYS: OffsetPeriod = { from: -Infinity, to: Infinity, before: 0, offset: 0, after: 0 }
export const UTC: Zone = { periodAt: () => ALWAYS }

/** The zone data of the runtime, computed per year on demand. */
export function createZone(name: string): Zone {
  const offsetAt = offsetReader(name)
  const years = new Map<number, readonly OffsetPeriod[]>()
  // The last used period: most queries are about the present.
  let recent: OffsetPeriod = { from: 0, to: 0, before: 0, offset: 0, after: 0 }

  function periodsOf(year: number): readonly OffsetPeriod[] {
    const known = years.get(year)
    if (known) return known
    const periods =
      year > LAST_REGULAR_YEAR
        ? shifted(periodsOf(similarYear(year)), startOfYear(year) - startOfYear(similarYear(year)))
        : surveyYear(offsetAt, year)
    years.set(year, periods)
    return periods
  }

  return {
    periodAt(second) {
      if (second >= recent.from && second < recent.to) return recent
      const periods = periodsOf(yearOf(second))
      recent = periods.find(({ to }) => second < to)!
      return recent
    },
  }
}

function surveyYear(offsetAt: (second: number) => number, year: number): readonly OffsetPeriod[] {
  const start = startOfYear(year)
  const end = startOfYear(year + 1)
  const changes = findChanges(offsetAt, start - KNOWN_BEYOND, end + KNOWN_BEYOND)
  const periods: OffsetPeriod[] = []
  let from = start - USED_BEYOND
  let before = offsetAt(start - KNOWN_BEYOND)
  let offset = before
  for (const at of changes) {
    const after = offsetAt(at)
    periods.push({ from, to: at, before, offset, after })
    from = at
    before = offset
    offset = after
  }
  periods.push({ from, to: end + USED_BEYOND, before, offset, after: offset })
  return periods
}

function findChanges(offsetAt: (second: number) => number, from: number, to: number): number[] {
  const changes: number[] = []
  let offset = offsetAt(from)
  for (let at = from; at < to; at += PROBE_SECONDS) {
    const probe = Math.min(at + PROBE_SECONDS, to)
    const next = offsetAt(probe)
    if (next !== offset) changes.push(firstWith(offsetAt, next, at, probe))
    offset = next
  }
  return changes
}

/** The first second with the offset at `to`, which differs from that at `from`. */
function firstWith(
  offsetAt: (second: number) => number,
  offset: number,
  from: number,
  to: number,
): number {
  let low = from
  let high = to
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle) === offset) high = middle
    else low = middle
  }
  return high
}

/** A regular year of the same length that begins on the same weekday and therefore has the same changes. */
function similarYear(year: number): number {
  let like = FIRST_REGULAR_YEAR
  while (!areAlike(like, year)) like++
  return like
}

function areAlike(a: number, b: number): boolean {
  const firstWeekday = (year: number) => weekdayOf(startOfYear(year) / DAY_SECONDS)
  return isLeapYear(a) === isLeapYear(b) && firstWeekday(a) === firstWeekday(b)
}

function shifted(periods: readonly OffsetPeriod[], by: number): readonly OffsetPeriod[] {
  return periods.map((period) => ({ ...period, from: period.from + by, to: period.to + by }))
}

const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/

/** The offset from UTC in seconds, from the runtime's zone data. Throws a `RangeError` for an unknown zone. */
export function offsetReader(zone: string): (second: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  return (second) => {
    const [, sign, hours, minutes, seconds] = OFFSET.exec(format.format(second * 1_000)) ?? []
    if (sign === undefined) return 0
    const size = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds ?? 0)
    return sign === '-' ? -size : size
  }
}
