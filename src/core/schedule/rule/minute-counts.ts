const MINUTE_MS = 60_000

/** Number of fires in each minute of a range. No rule fires more often than once per second. */
export interface MinuteCounts {
  /** Minutes since 1970. */
  readonly firstMinute: number
  readonly fires: Uint8Array
}

/** Counts for all minutes that overlap [from, until). */
export function createMinuteCounts(from: number, until: number): MinuteCounts {
  const firstMinute = Math.floor(from / MINUTE_MS)
  return { firstMinute, fires: new Uint8Array(Math.ceil(until / MINUTE_MS) - firstMinute) }
}

export function countAt(
  { firstMinute, fires }: MinuteCounts,
  instant: number,
  count: number = 1,
): void {
  const index = Math.floor(instant / MINUTE_MS) - firstMinute
  fires[index] = (fires[index] ?? 0) + count
}
