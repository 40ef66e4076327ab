import { MAX_LEAD_MS } from '../core/schedule/firing/early-firing.ts'
import type { FireBatch, FireCommand, FireResult } from './port.ts'

/**
 * The furthest a node may fire ahead of time. The margin allows for a node whose estimate of the
 * store's clock is slightly off.
 */
export const MAX_AHEAD_MS = MAX_LEAD_MS + 250

/** The time a fire batch acts by: the requested time if it is near, otherwise the store's clock. */
export function effectiveFireTime({ aheadTo }: Pick<FireBatch, 'aheadTo'>, clock: number): number {
  return aheadTo !== null && aheadTo > clock && aheadTo - clock <= MAX_AHEAD_MS ? aheadTo : clock
}

/**
 * Milliseconds left until `now` of the result at `clock`; negative once it has passed. Never more
 * than when the batch was decided, even if the clock was set back since. A run that was not fired
 * ahead starts when it is durable.
 */
export function remainingMs(
  { now, aheadMs }: Pick<FireResult, 'now' | 'aheadMs'>,
  clock: number,
): number {
  return aheadMs > 0 ? Math.min(aheadMs, now - clock) : aheadMs
}

/**
 * Until when a run whose lease is given back must wait; null if it is ready now. A run that was
 * leased ahead of time waits for its start, which may be later than its nominal time. A larger
 * difference means that the clock was set back.
 */
export function waitsUntil(
  { dueAt, startedAt }: { readonly dueAt: number | null; readonly startedAt: number },
  now: number,
): number | null {
  if (dueAt === null) return null
  const at = startedAt - now <= MAX_AHEAD_MS ? Math.max(dueAt, startedAt) : dueAt
  return at > now ? at : null
}

/**
 * Whether a command settles a time that has not come yet: the node that planned it was ahead of the
 * store's clock.
 */
export function isAheadOfClock({ settled }: Pick<FireCommand, 'settled'>, now: number): boolean {
  return settled.some(({ nominalAt }) => nominalAt > now)
}

/** The result for a batch that was planned for another time, or whose time is not known. */
export function outdatedResult({ commands }: Pick<FireBatch, 'commands'>, now: number): FireResult {
  const verdicts = commands.map(() => ({ kind: 'outdated' as const }))
  return { now, aheadMs: 0, verdicts, started: [], lanes: [], cancelled: [] }
}
