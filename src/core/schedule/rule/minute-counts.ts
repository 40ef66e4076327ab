const MINUTE_MS = 60_000

/** How often something fires in each of some minutes. Nothing fires more often than once a second. */
export interface MinuteCounts {
  /** Minutes since 1970. */
  readonly firstMinute: number
  readonly fires: Uint8Array
}

/** Counts for the minutes that [from, until) touches. */
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
