import { nextMatch, NONE, type SearchBudget } from '../calendar/next-match.ts'
import type { CalendarPlan } from '../calendar/plan.ts'
import type { DstPolicy } from '../rule/rule.ts'
import type { OffsetPeriod } from './zone.ts'

/**
 * The effect of the policy for daylight saving changes (`dst`) on the times of a plan. A time that the clocks skip
 * fires at the end of the gap or not at all; a time that they repeat fires in the first period, in the last, or in
 * both.
 */

/** Whether skipped times are made up for at the instant `at`, the end of their gap. */
export function isAfterGap(
  plan: CalendarPlan,
  policy: DstPolicy,
  { from, before, offset }: OffsetPeriod,
  at: number,
  budget: SearchBudget,
): boolean {
  if (at !== from || offset <= before || policy.gap === 'skip') return false
  if (!meansLocalTimes(plan, offset - before)) return false
  return nextMatch(plan, from + before, from + offset, budget) !== NONE
}

/** The first local second of a period that counts: earlier ones may have fired before the clock change. */
export function firstCounted(
  plan: CalendarPlan,
  { repeat }: DstPolicy,
  period: OffsetPeriod,
): number {
  const { from, before, offset } = period
  const isSecondTime = offset < before && repeat === 'first'
  return isSecondTime && meansLocalTimes(plan, before - offset) ? from + before : from + offset
}

/** The end of the local seconds of a period that count: repeated ones may fire after the clock change instead. */
export function lastCounted(
  plan: CalendarPlan,
  { repeat }: DstPolicy,
  period: OffsetPeriod,
): number {
  const { to, offset, after } = period
  const comesAgain = after < offset && repeat === 'last'
  return comesAgain && meansLocalTimes(plan, offset - after) ? to + after : to + offset
}

/**
 * Whether a plan follows the clock rather than elapsed time, for a clock change of this size: a rule with a named
 * hour does; for a change of less than an hour, a rule with a named minute does too.
 */
function meansLocalTimes({ hoursAreWild, minutesAreWild }: CalendarPlan, jump: number): boolean {
  return !hoursAreWild || (jump < 3_600 && !minutesAreWild)
}
