/** A range of past times, both ends included. */
export interface BackfillRange {
  readonly from: number
  readonly until: number
}

/** Why a range is rejected: which end is wrong, and what would be valid. */
export interface RangeProblem {
  readonly field: 'from' | 'until'
  readonly message: string
  readonly hint: string
}

/** Tolerance for a client that sends its own time as the end: its clock may be ahead of the server's by this much. */
const CLOCK_DIFFERENCE_MS = 5_000
const ONLY_PAST = 'A backfill is for past times; future times fire by themselves.'

/**
 * Checks the range that a caller requests. A range in the future is rejected rather than shortened: the caller means
 * other times than those that would become runs. `openFrom` is the first time that the schedule itself has not
 * handled; the backfill leaves it and all later times to the schedule.
 */
export function checkRange(
  asked: { readonly from: number; readonly until: number | undefined },
  { now, openFrom }: { readonly now: number; readonly openFrom: number | null },
): BackfillRange | RangeProblem {
  const { from, until = now } = asked
  if (from > now) {
    return { field: 'from', message: `${shown(from)} is in the future`, hint: ONLY_PAST }
  }
  if (until > now + CLOCK_DIFFERENCE_MS) {
    const hint = `${ONLY_PAST} Without an end the range ends now.`
    return { field: 'until', message: `${shown(until)} is in the future`, hint }
  }
  if (until < from) {
    const message = `${shown(until)} is before the start of the range`
    return { field: 'until', message, hint: 'Swap the two.' }
  }
  if (openFrom !== null && openFrom <= from) {
    const message = `the schedule itself has not yet handled its times since ${shown(openFrom)}`
    const hint = 'Resume the schedule if it is paused, or choose an earlier range.'
    return { field: 'from', message, hint }
  }
  return { from, until: Math.min(until, now, (openFrom ?? Infinity) - 1) }
}

function shown(instant: number): string {
  return new Date(instant).toISOString().replace('.000Z', 'Z')
}
