import { nextMatch, NONE, type SearchBudget } from '../calendar/next-match.ts'
import type { CalendarPlan } from '../calendar/plan.ts'
import type { DstPolicy } from '../rule/rule.ts'
import { firstCounted, isAfterGap, lastCounted } from './dst-policy.ts'
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
    const period = zone.periodAt(at)
    const found = isAfterGap(plan, policy, period, at, budget)
      ? period.from
      : nextInPeriod(plan, policy, period, at, Math.min(period.to, to + 1), budget)
    if (found !== NONE) return found
    at = period.to
  }
  return NONE
}

function nextInPeriod(
  plan: CalendarPlan,
  policy: DstPolicy,
  period: OffsetPeriod,
  at: number,
  to: number,
  budget: SearchBudget,
): number {
  const { offset } = period
  const first = Math.max(at + offset, firstCounted(plan, policy, period))
  const last = Math.min(to + offset, lastCounted(plan, policy, period))
  return nextMatch(plan, first, last, budget) - offset
}
