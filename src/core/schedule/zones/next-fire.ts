import { nextMatch, NONE, type SearchBudget } from '../calendar/next-match.ts'
import type { CalendarPlan } from '../calendar/plan.ts'
import type { DstPolicy } from '../rule/rule.ts'
import type { OffsetPeriod, Zone } from './zone.ts'

/**
 * The first second in [from, to] at which a plan fires in a zone. Between two clock changes local time is plain
 * arithmetic, so the search goes from one offset period to the next; the policy decides which part of a period
 * counts.
 */
export function nextFire(
  plan: CalendarPlan,
  zone: Zone,
  policy: DstPolicy,
  from: number,
  to: number,
  budget: SearchBudget,
): number {
  let at = from
  while (at <= to && budget.steps-- > 0) {
    const stretch = zone.stretchAt(at)
    const found = isAfterGap(plan, policy, stretch, at, budget)
      ? stretch.from
      : nextInStretch(plan, policy, stretch, at, Math.min(stretch.to, to + 1), budget)
    if (found !== NONE) return found
    at = stretch.to
  }
  return NONE
}

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

function nextInStretch(
  plan: CalendarPlan,
  policy: DstPolicy,
  stretch: OffsetPeriod,
  at: number,
  to: number,
  budget: SearchBudget,
): number {
  const { offset } = stretch
  const first = Math.max(at + offset, firstCounted(plan, policy, stretch))
  const last = Math.min(to + offset, lastCounted(plan, policy, stretch))
  return nextMatch(plan, first, last, budget) - offset
}

/** The first local second of a period that counts: earlier ones may have fired before the clock change. */
export function firstCounted(
  plan: CalendarPlan,
  { repeat }: DstPolicy,
  stretch: OffsetPeriod,
): number {
  const { from, before, offset } = stretch
  const isSecondTime = offset < before && repeat === 'first'
  return isSecondTime && meansLocalTimes(plan, before - offset) ? from + before : from + offset
}

/** The end of the local seconds of a period that count: repeated ones may fire after the clock change instead. */
export function lastCounted(
  plan: CalendarPlan,
  { repeat }: DstPolicy,
  stretch: OffsetPeriod,
): number {
  const { to, offset, after } = stretch
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
