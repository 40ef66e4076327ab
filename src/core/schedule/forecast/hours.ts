import type { MinuteCounts } from '../rule/minute-counts.ts'

const HOUR_MS = 3_600_000
const HOUR_MINUTES = 60

/** Expected fires and load for each hour, in UTC. */
export interface Hours {
  /** Hours since 1970. */
  readonly firstHour: number
  readonly fires: Float64Array
  /** Average number of running runs in the hour, where durations are known. */
  readonly busy: Float64Array
}

export interface HourCounting {
  /** The fires per hour of one schedule. */
  ofMinutes(counts: MinuteCounts): Float64Array
  add(fires: Float64Array, durationMs: number | null): void
  done(): Hours
}

/**
 * Collects fires and load per hour. A run is counted as if it began at the start of its hour and continued into the
 * following hours; of its last hour only the used part is counted.
 */
export function createHours(from: number, until: number): HourCounting {
  const firstHour = Math.floor(from / HOUR_MS)
  const length = Math.ceil(until / HOUR_MS) - firstHour
  const fires = new Float64Array(length)
  /** For each hour, the change in the number of runs that last through the whole hour. */
  const changes = new Float64Array(length + 1)
  const parts = new Float64Array(length + 1)

  return {
    ofMinutes({ firstMinute, fires: byMinute }) {
      const own = new Float64Array(length)
      const shift = firstMinute - firstHour * HOUR_MINUTES
      for (let minute = 0; minute < byMinute.length; minute++) {
        const count = byMinute[minute] as number
        if (count === 0) continue
        const hour = Math.floor((minute + shift) / HOUR_MINUTES)
        own[hour] = (own[hour] as number) + count
      }
      return own
    },

    add(own, durationMs) {
      const whole = Math.floor((durationMs ?? 0) / HOUR_MS)
      const part = ((durationMs ?? 0) % HOUR_MS) / HOUR_MS
      for (let hour = 0; hour < length; hour++) {
        const count = own[hour] as number
        if (count === 0) continue
        fires[hour] = (fires[hour] as number) + count
        const last = Math.min(hour + whole, length)
        changes[hour] = (changes[hour] as number) + count
        changes[last] = (changes[last] as number) - count
        parts[last] = (parts[last] as number) + count * part
      }
    },

    done() {
      const busy = new Float64Array(length)
      let throughout = 0
      for (let hour = 0; hour < length; hour++) {
        throughout += changes[hour] as number
        busy[hour] = throughout + (parts[hour] as number)
      }
      return { firstHour, fires, busy }
    },
  }
}
