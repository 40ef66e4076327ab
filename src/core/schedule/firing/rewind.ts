import { nextFrom, type FireTimes } from './firing-plan.ts'

interface NextTimeHolder {
  readonly next: { readonly nominalAt: number | null; readonly checkAt: number | null }
  readonly lastNominalAt: number | null
  readonly updatedAt: number
  readonly pause: { readonly resumedAt: number | null } | null
}

/**
 * The next time of a schedule after the clock was set back to `now`; null if it does not change. Every firing decides
 * all times up to its own, so if a time after now has an occurrence, every time up to now has one. The occurrences
 * after now are void: these times fire again at their real time.
 */
export function rewind(
  schedule: NextTimeHolder,
  times: FireTimes,
  now: number,
): NextTimeHolder['next'] | null {
  const { next, lastNominalAt, updatedAt, pause } = schedule
  const { nominalAt, checkAt } = next
  const isHeld = pause !== null && pause.resumedAt === null
  if ((lastNominalAt ?? 0) > now || updatedAt > now) {
    const isFollowing = times.afterFinish !== null && nominalAt === null && checkAt !== null
    const first = isFollowing ? null : times.next(now)
    const fresh = isFollowing ? { nominalAt: null, checkAt: now } : nextFrom(times, first)
    return isHeld ? { ...fresh, checkAt } : fresh
  }
  if (isHeld || checkAt === null) return null
  // The schedule waits for a moment counted from a time that has not come yet: the end of a run, the distance between
  // runs for missed times, or a retry after an error.
  const dueAt = nominalAt === null ? now : Math.max(now, nominalAt + times.jitterOf(nominalAt))
  return checkAt > dueAt ? { nominalAt, checkAt: dueAt } : null
}
