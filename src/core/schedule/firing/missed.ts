import type { OccurrenceReason } from './occurrence.ts'

/** What happens to nominal times at which no node was running. */
export interface MissedPolicy {
  readonly kind: 'skip' | 'latest' | 'all'
  /** Older times get no run. */
  readonly maxAgeMs: number
  /** For `all`: the maximum number of runs, for the newest times. */
  readonly maxCount: number
  /** For `all`: the minimum distance between two runs for missed times; 0 for no minimum. */
  readonly everyMs: number
}

const HOUR_MS = 3_600_000

export const DEFAULT_MISSED: MissedPolicy = {
  kind: 'latest',
  maxAgeMs: 24 * HOUR_MS,
  maxCount: 100,
  everyMs: 0,
}

/** A time within this delay is fired late, whatever the policy; after it, the time counts as missed. */
export const MISSED_GRACE_MS = 30_000

/** A nominal time that came due, and when it should have fired. */
export interface DueTime {
  readonly nominalAt: number
  readonly fireAt: number
}

/** A due time with the decision about it: `reason` says why it gets no run; null if it gets one. */
export interface DueTimeDecision extends DueTime {
  readonly isMissed: boolean
  readonly reason: OccurrenceReason | null
}

/** Decides which of the due times become runs. The times are in ascending order. */
export function decideDueTimes(
  due: readonly DueTime[],
  now: number,
  policy: MissedPolicy,
): readonly DueTimeDecision[] {
  const isMissed = ({ fireAt }: DueTime) => now - fireAt > MISSED_GRACE_MS
  const missed = due.filter(isMissed)
  const recentEnough = missed.filter(({ fireAt }) => now - fireAt <= policy.maxAgeMs)
  const max = maxMadeUp(policy, missed.length < due.length)
  const madeUp = new Set(recentEnough.slice(Math.max(0, recentEnough.length - max)))
  return due.map((time) => {
    const isWanted = !isMissed(time) || madeUp.has(time)
    const reason = isWanted ? null : missedReason(time, now, policy)
    return { ...time, isMissed: isMissed(time), reason }
  })
}

/** Why a missed time gets no run. */
export function missedReason(
  { fireAt }: Pick<DueTime, 'fireAt'>,
  now: number,
  policy: MissedPolicy,
): OccurrenceReason {
  if (policy.kind === 'skip') return 'policy'
  if (now - fireAt > policy.maxAgeMs) return 'too_old'
  return policy.kind === 'latest' ? 'superseded' : 'too_many'
}

/** Number of the newest missed times that must be examined one by one; older ones never get a run. */
export function maxRunsForMissed(policy: MissedPolicy): number {
  return policy.kind === 'all' ? policy.maxCount : 1
}

function maxMadeUp(policy: MissedPolicy, hasRecent: boolean): number {
  switch (policy.kind) {
    case 'skip':
      return 0
    case 'latest':
      return hasRecent ? 0 : 1
    case 'all':
      return policy.maxCount
  }
}
