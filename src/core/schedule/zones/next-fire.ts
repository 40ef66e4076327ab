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
export function isAfterGap(
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
  stretch: Stretch,
  at: number,
  to: number,
  patience: Patience,
): number {
  const { offset } = stretch
  const first = Math.max(at + offset, firstCounted(plan, policy, stretch))
  const last = Math.min(to + offset, lastCounted(plan, policy, stretch))
  return nextMatch(plan, first, last, patience) - offset
}

/** The first local second of a stretch that counts: what came before on clocks may have fired then. */
export function firstCounted(plan: Plan, { repeat }: DstPolicy, stretch: Stretch): number {
  const { from, before, offset } = stretch
  const isSecondTime = offset < before && repeat === 'first'
  return isSecondTime && meansLocalTimes(plan, before - offset) ? from + before : from + offset
}

/** The end of the local seconds of a stretch that count: what comes again may fire then instead. */
export function lastCounted(plan: Plan, { repeat }: DstPolicy, stretch: Stretch): number {
  const { to, offset, after } = stretch
  const comesAgain = after < offset && repeat === 'last'
  return comesAgain && meansLocalTimes(plan, offset - after) ? to + after : to + offset
}

/**
 * Whether a plan means times on a clock rather than elapsed time, where clocks jump by so much: an
 * hour named as such does, and where less than an hour is jumped over so does a named minute.
 */
function meansLocalTimes({ hoursAreWild, minutesAreWild }: Plan, jump: number): boolean {
  return !hoursAreWild || (jump < 3_600 && !minutesAreWild)
}
