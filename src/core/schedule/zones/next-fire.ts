import { nextMatch, NONE, type Patience } from '../calendar/next-match.ts'
import type { Plan } from '../calendar/plan.ts'
import type { Stretch, Zone } from './zone.ts'

export const GAPS = ['run-after', 'skip'] as const
export const REPEATS = ['first', 'both', 'last'] as const

/** What becomes of a time that a change of the clocks leaves out, or brings twice. */
export interface DstPolicy {
  readonly gap: (typeof GAPS)[number]
  readonly repeat: (typeof REPEATS)[number]
}

/**
 * The first second in [from, to] at which a plan fires in a zone. Between two changes of the clocks
 * local time is plain arithmetic, so the search goes from stretch to stretch, and the policy only
 * says how much of a stretch counts.
 */
export function nextFire(
  plan: Plan,
  zone: Zone,
  policy: DstPolicy,
  from: number,
  to: number,
  patience: Patience,
): number {
  let at = from
  while (at <= to && patience.steps-- > 0) {
    const stretch = zone.stretchAt(at)
    const found = isAfterGap(plan, policy, stretch, at, patience)
      ? stretch.from
      : nextInStretch(plan, policy, stretch, at, Math.min(stretch.to, to + 1), patience)
    if (found !== NONE) return found
    at = stretch.to
  }
  return NONE
}

/** Whether times that do not exist are made up for at the instant `at`, the end of their gap. */
function isAfterGap(
  plan: Plan,
  policy: DstPolicy,
  { from, before, offset }: Stretch,
  at: number,
  patience: Patience,
): boolean {
  if (at !== from || offset <= before || policy.gap === 'skip') return false
  if (!meansLocalTimes(plan, offset - before)) return false
  return nextMatch(plan, from + before, from + offset, patience) !== NONE
}

function nextInStretch(
  plan: Plan,
  policy: DstPolicy,
  { from, offset, before, after, to: end }: Stretch,
  at: number,
  to: number,
  patience: Patience,
): number {
  let first = at + offset
  let last = to + offset
  if (offset < before && policy.repeat === 'first' && meansLocalTimes(plan, before - offset)) {
    first = Math.max(first, from + before)
  }
  if (after < offset && policy.repeat === 'last' && meansLocalTimes(plan, offset - after)) {
    last = Math.min(last, end + after)
  }
  return nextMatch(plan, first, last, patience) - offset
}

/**
 * Whether a plan means times on a clock rather than elapsed time, where clocks jump by so much: an
 * hour named as such does, and where less than an hour is jumped over so does a named minute.
 */
function meansLocalTimes({ hoursAreWild, minutesAreWild }: Plan, jump: number): boolean {
  return !hoursAreWild || (jump < 3_600 && !minutesAreWild)
}
