/** A forecast in the API. Fields are only ever added. */
export interface WireForecast {
  readonly from: string
  readonly until: string
  /** False if there are more schedules than one forecast covers. */
  readonly complete: boolean
  /** Total for all schedules. */
  readonly fires: number
  /** The schedules that fire most often. */
  readonly schedules: readonly WireForecastSchedule[]
  /** Number of schedules that are not listed. */
  readonly more: number
  /** In order of time, in UTC; the first and the last bar may be incomplete. */
  readonly bars: readonly WireForecastBar[]
  /** Length of a bar: an hour or a day. */
  readonly bar_ms: number
  /** The hours with the most running runs or, if no duration is known, with the most fires. */
  readonly busiest: readonly WireForecastBar[]
  readonly collisions: readonly WireCollision[]
  readonly clock_changes: readonly WireClockNight[]
}

export interface WireForecastSchedule {
  readonly job: string
  readonly schedule: string
  readonly words: string
  readonly fires: number
  /** Typical duration of its runs; null if none of the latest runs succeeded. */
  readonly duration_ms: number | null
}

export interface WireForecastBar {
  readonly at: string
  readonly fires: number
  /** Average number of running runs; for a day, that of its busiest hour. */
  readonly busy: number
}

/** Schedules that repeatedly fire in the same second. */
export interface WireCollision {
  /** The first common time. */
  readonly at: string
  /** Number of common times. */
  readonly times: number
  readonly schedules: number
  /** Some of the schedules, as JOB/SCHEDULE. */
  readonly names: readonly string[]
}

/** A night in which the clocks of a zone change, and the number of affected schedules. */
export interface WireClockNight {
  readonly at: string
  readonly zone: string
  readonly from_offset: string
  readonly to_offset: string
  /** All schedules in this zone. */
  readonly schedules: number
  /** Number of schedules with a time that does not exist: it fires after the change, or not at all. */
  readonly moved: number
  readonly left_out: number
  /** Number of schedules with a time that occurs twice: it fires once, or twice. */
  readonly once: number
  readonly twice: number
}
