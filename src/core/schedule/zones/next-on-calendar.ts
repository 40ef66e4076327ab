import { NONE, type Patience } from '../calendar/next-match.ts'
import type { Plan } from '../calendar/plan.ts'
import { nextFire, type DstPolicy } from './next-fire.ts'
import type { Zone } from './zone.ts'

/** No search takes more steps, whatever the rule and the zone. */
export const MAX_STEPS = 5_000
/**
 * How far ahead a fire is looked for. The longest pause a rule can make is the forty years between two
 * 29ths of February on the same weekday; what does not come within this time never does.
 */
const REACH_SECONDS = 50 * 366 * 86_400

export function nextOnCalendar(
  plan: Plan,
  zone: Zone,
  policy: DstPolicy,
  after: number,
  patience: Patience = { steps: MAX_STEPS },
): number | null {
  const from = Math.floor(after / 1_000) + 1
  const second = nextFire(plan, zone, policy, from, from + REACH_SECONDS, patience)
  return second === NONE ? null : second * 1_000
}
