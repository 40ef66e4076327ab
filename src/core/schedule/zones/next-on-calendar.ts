import { startOfYear } from '../calendar/dates.ts'
import { hasDayIn } from '../calendar/month-days.ts'
import { NONE, type SearchBudget } from '../calendar/next-match.ts'
import type { Days, CalendarPlan } from '../calendar/plan.ts'
import { nextFire } from './next-fire.ts'
import { type DstPolicy } from '../rule/rule.ts'
import type { Zone } from './zone.ts'

/** The search budget for any rule and any zone. */
export const MAX_STEPS = 5_000
/**
 * How far ahead a fire is searched. The longest gap between two fires is forty years, between two 29ths of February
 * on the same weekday; a rule without a fire within this time never fires.
 */
const REACH_SECONDS = 50 * 366 * 86_400

export function nextOnCalendar(
  plan: CalendarPlan,
  zone: Zone,
  policy: DstPolicy,
  after: number,
  budget: SearchBudget = { steps: MAX_STEPS },
): number | null {
  const from = Math.floor(after / 1_000) + 1
  const spans = plan.days.years
    ? spansOf(plan.days, plan.days.years, from)
    : [[from, from + REACH_SECONDS] as const]
  for (const [first, last] of spans) {
    const second = nextFire(plan, zone, policy, first, last, budget)
    if (second !== NONE) return second * 1_000
  }
  return null
}

/** Margin around a year in local time for the offset of any zone. */
const YEAR_MARGIN_SECONDS = 86_400

/** If this many years have matching days but no fire, clock changes skip all its times. */
const MAX_YEARS = 50

/**
 * The years from an instant on that are in the rule and have a matching day. Years in between are skipped, because
 * their clock changes are expensive to compute.
 */
function* spansOf(
  days: Days,
  years: readonly number[],
  from: number,
): Generator<readonly [number, number]> {
  let count = 0
  for (const year of years) {
    const last = startOfYear(year + 1) + YEAR_MARGIN_SECONDS
    if (last < from || !hasDayIn(days, year)) continue
    if (++count > MAX_YEARS) return
    yield [Math.max(from, startOfYear(year) - YEAR_MARGIN_SECONDS), last]
  }
}
