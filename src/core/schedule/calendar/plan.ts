/** A compiled calendar rule: the days and times at which it fires, in local time. */
export interface CalendarPlan {
  readonly days: Days
  /** The rule fires at any of them; some days have times that no single combination of fields describes. */
  readonly times: readonly TimeCombination[]
  /**
   * Whether the hours (and the minutes) are only `*` or `*` with a step. Such a rule follows elapsed time through a
   * clock change; any other rule follows the clock.
   */
  readonly hoursAreWild: boolean
  readonly minutesAreWild: boolean
}

export interface Days {
  /** Ascending; null for all years. */
  readonly years: readonly number[] | null
  /** Bit 0 is January. */
  readonly months: number
  /** Bit 0 is the first of the month. */
  readonly monthDays: number
  readonly monthDaySpecials: readonly DaySpecial[]
  /** Bit 0 is Sunday. */
  readonly weekdays: number
  readonly weekdaySpecials: readonly DaySpecial[]
  /** Whether a match of either the month day or the weekday is enough: when both fields are restricted. */
  readonly isEither: boolean
}

/** Days that depend on the month. */
export type DaySpecial =
  /** `L`, or `L-3` for three days before the last. */
  | { readonly kind: 'last'; readonly back: number }
  /** `LW`: the last Monday to Friday; `L-3W`: the one nearest to three days before the last day. */
  | { readonly kind: 'last-working'; readonly back: number }
  /** `15W`: the Monday to Friday nearest to the 15th, in the same month. */
  | { readonly kind: 'nearest-working'; readonly day: number }
  /** `5L`: the last Friday. */
  | { readonly kind: 'last-weekday'; readonly weekday: number }
  /** `5#2`: the second Friday. */
  | { readonly kind: 'nth-weekday'; readonly weekday: number; readonly nth: number }

/**
 * All combinations of these hours, minutes and seconds; 60 bits do not fit into a number, so they are split into 0–29
 * and 30–59.
 */
export interface TimeCombination {
  readonly hours: number
  readonly minutes: readonly [low: number, high: number]
  readonly seconds: readonly [low: number, high: number]
}

export function bitMaskOf(values: readonly number[], first = 0): number {
  return values.reduce((bits, value) => bits | (1 << (value - first)), 0)
}

export function splitBitMaskOf(values: readonly number[]): [low: number, high: number] {
  return [
    bitMaskOf(values.filter((value) => value < 30)),
    bitMaskOf(
      values.filter((value) => value >= 30),
      30,
    ),
  ]
}
