/** A forecast as it travels. A field is only ever added. */
export interface WireForecast {
  readonly from: string
  readonly until: string
  /** False if there are more schedules than one forecast takes in. */
  readonly complete: boolean
  /** Of all schedules together. */
  readonly fires: number
  /** Those that fire most often, first. */
  readonly schedules: readonly WireForecastSchedule[]
  /** How many others there are. */
  readonly more: number
  /** One after the other, by the clock of UTC; the first and the last may be cut. */
  readonly bars: readonly WireForecastBar[]
  /** How long a bar is: an hour, or a day. */
  readonly bar_ms: number
  /** The hours in which most is under way, or, where no duration is known, in which most fires. */
  readonly busiest: readonly WireForecastBar[]
  readonly collisions: readonly WireCollision[]
  readonly clock_changes: readonly WireClockNight[]
}

export interface WireForecastSchedule {
  readonly job: string
  readonly schedule: string
  readonly words: string
  readonly fires: number
  /** How long its runs take, as a rule; null if none of the last ones succeeded. */
  readonly duration_ms: number | null
}

export interface WireForecastBar {
  readonly at: string
  readonly fires: number
  /** How many runs are under way on average; of a day, in its fullest hour. */
  readonly busy: number
}

/** Schedules that fire in the same second, again and again. */
export interface WireCollision {
  /** The first time. */
  readonly at: string
  /** How often. */
  readonly times: number
  readonly schedules: number
  /** Some of them, as JOB/SCHEDULE. */
  readonly names: readonly string[]
}

/** A night in which the clocks of a zone change, and how many schedules notice. */
export interface WireClockNight {
  readonly at: string
  readonly zone: string
  readonly from_offset: string
  readonly to_offset: string
  /** All that live by these clocks. */
  readonly schedules: number
  /** Times that do not exist fire when the clocks have jumped, or not at all. */
  readonly moved: number
  readonly left_out: number
  /** Times that come twice fire once, or twice. */
  readonly once: number
  readonly twice: number
}
