/** What a rule of the calendar comes down to: on which days, at which times, by local clocks. */
export interface Plan {
  readonly days: Days
  /** Any of them; the same day may have times that no single combination of fields describes. */
  readonly times: readonly Times[]
  /**
   * Whether the hours, and the minutes, are only `*` or `*` with a step. Such a rule follows elapsed
   * time through a change of the clocks; any other means the times it names.
   */
  readonly hoursAreWild: boolean
  readonly minutesAreWild: boolean
}

export interface Days {
  /** Bit 0 is January. */
  readonly months: number
  /** Bit 0 is the first. */
  readonly monthDays: number
  readonly monthDaySpecials: readonly DaySpecial[]
  /** Bit 0 is Sunday. */
  readonly weekdays: number
  readonly weekdaySpecials: readonly DaySpecial[]
  /** Whether one of the two is enough: when neither of them was left open. */
  readonly isEither: boolean
}

/** Days that depend on the month they are in. */
export type DaySpecial =
  /** `L`, or `L-3` for three days before it. */
  | { readonly kind: 'last'; readonly back: number }
  /** `LW`: the last Monday to Friday. */
  | { readonly kind: 'last-working' }
  /** `15W`: the Monday to Friday nearest to the 15th, in the same month. */
  | { readonly kind: 'nearest-working'; readonly day: number }
  /** `5L`: the last Friday. */
  | { readonly kind: 'last-weekday'; readonly weekday: number }
  /** `5#2`: the second Friday. */
  | { readonly kind: 'nth-weekday'; readonly weekday: number; readonly nth: number }

/** Every combination of these; 60 bits do not fit into a number, so they come as 0–29 and 30–59. */
export interface Times {
  readonly hours: number
  readonly minutes: readonly [low: number, high: number]
  readonly seconds: readonly [low: number, high: number]
}

export function bitsOf(values: readonly number[], first = 0): number {
  return values.reduce((bits, value) => bits | (1 << (value - first)), 0)
}

export function sixtyBitsOf(values: readonly number[]): [low: number, high: number] {
  return [
    bitsOf(values.filter((value) => value < 30)),
    bitsOf(
      values.filter((value) => value >= 30),
      30,
    ),
  ]
}
