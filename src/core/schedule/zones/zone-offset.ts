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
