import { countMatches, minutesOfDay } from '../calendar/count-matches.ts'
import type { SearchBudget } from '../calendar/next-match.ts'
import type { CalendarPlan } from '../calendar/plan.ts'
import { countAt, type MinuteCounts } from '../rule/minute-counts.ts'
import { firstCounted, isAfterGap, lastCounted } from './dst-policy.ts'
import { type DstPolicy } from '../rule/rule.ts'
import type { Zone } from './zone.ts'

/** Search budget around a clock change. */
const STEPS = 100

/**
 * Counts the instants in [from, until) at which a plan fires in a zone. The result equals a walk with
 * `nextOnCalendar`, but each period of constant offset is counted at once.
 */
export function countOnCalendar(
  plan: CalendarPlan,
  zone: Zone,
  policy: DstPolicy,
  counts: MinuteCounts,
  from: number,
  until: number,
): void {
  const { firstMinute, fires } = counts
  const ofDay = minutesOfDay(plan)
  const end = Math.ceil(until / 1_000)
  let at = Math.ceil(from / 1_000)
  while (at < end) {
    const period = zone.periodAt(at)
    const { offset, to } = period
    const budget: SearchBudget = { steps: STEPS }
    if (isAfterGap(plan, policy, period, at, budget)) {
      countAt(counts, at * 1_000)
      at += 1
    }
    const first = Math.max(at + offset, firstCounted(plan, policy, period))
    const last = Math.min(Math.min(to, end) + offset, lastCounted(plan, policy, period))
    // Offsets have been whole minutes since 1972.
    const shift = firstMinute + offset / 60
    countMatches(plan, ofDay, first, last, { fires, shift })
    at = Math.max(at, to)
  }
}
