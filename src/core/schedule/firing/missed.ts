import type { Reason } from './occurrence.ts'

/** What happens to times at which nobody was there to fire. */
export interface MissedPolicy {
  readonly kind: 'skip' | 'latest' | 'all'
  /** What is older is not made up for. */
  readonly maxAgeMs: number
  /** For `all`: at most this many, the newest. */
  readonly maxCount: number
  /** For `all`: at least this long between two that are made up for; 0 for as fast as it goes. */
  readonly everyMs: number
}

const HOUR_MS = 3_600_000

export const DEFAULT_MISSED: MissedPolicy = {
  kind: 'latest',
  maxAgeMs: 24 * HOUR_MS,
  maxCount: 100,
  everyMs: 0,
}

/** Up to this late a time is late, and is fired whatever the policy; beyond, it was missed. */
export const GRACE_MS = 30_000

/** A time that came due, and when it should have become a run. */
export interface DueTime {
  readonly nominalAt: number
  readonly fireAt: number
}

/** Why it becomes no run; null if it becomes one. */
export interface Fate extends DueTime {
  readonly isMissed: boolean
  readonly reason: Reason | null
}

/** Decides which of some times that came due, in ascending order, become runs. */
export function sortMissed(
  due: readonly DueTime[],
  now: number,
  policy: MissedPolicy,
): readonly Fate[] {
  const isMissed = ({ fireAt }: DueTime) => now - fireAt > GRACE_MS
  const missed = due.filter(isMissed)
  const young = missed.filter(({ fireAt }) => now - fireAt <= policy.maxAgeMs)
  const most = mostMadeUp(policy, missed.length < due.length)
  const madeUp = new Set(young.slice(Math.max(0, young.length - most)))
  return due.map((time) => {
    const isWanted = !isMissed(time) || madeUp.has(time)
    const reason = isWanted ? null : reasonFor(time, now, policy)
    return { ...time, isMissed: isMissed(time), reason }
  })
}

/** Why a missed time that is not made up for is not. */
export function reasonFor(
  { fireAt }: Pick<DueTime, 'fireAt'>,
  now: number,
  policy: MissedPolicy,
): Reason {
  if (policy.kind === 'skip') return 'policy'
  if (now - fireAt > policy.maxAgeMs) return 'too_old'
  return policy.kind === 'latest' ? 'superseded' : 'too_many'
}

/** How many times have to be looked at one by one; what is before them cannot be wanted. */
export function mostWanted(policy: MissedPolicy): number {
  return policy.kind === 'all' ? policy.maxCount : 1
}

function mostMadeUp(policy: MissedPolicy, hasRecent: boolean): number {
  switch (policy.kind) {
    case 'skip':
      return 0
    case 'latest':
      return hasRecent ? 0 : 1
    case 'all':
      return policy.maxCount
  }
}
