import { AHEAD_MS } from '../core/schedule/firing/early-firing.ts'
import type { FireBatch, FireCommand, FireResult } from './port.ts'

/** The most that is done ahead: by so much more a node's idea of the store's clock may be off. */
export const MOST_AHEAD_MS = AHEAD_MS + 250

/** The time as of which what is asked for at `clock` is done: that which is asked for, if it is near. */
export function timeOfFiring({ aheadTo }: Pick<FireBatch, 'aheadTo'>, clock: number): number {
  return aheadTo !== null && aheadTo > clock && aheadTo - clock <= MOST_AHEAD_MS ? aheadTo : clock
}

/**
 * How long it is until then at `clock`, or was, less than nothing; no longer than when it was decided, even
 * if the clock was set back since. What was not done ahead starts when it is durable.
 */
export function leftMs(
  { now, aheadMs }: Pick<FireResult, 'now' | 'aheadMs'>,
  clock: number,
): number {
  return aheadMs > 0 ? Math.min(aheadMs, now - clock) : aheadMs
}

/**
 * Until when a run waits whose lease is given back; null: it need not. One that was leased before its time
 * waits for that, which may be some while after its nominal one. Beyond that it is a clock that was set back.
 */
export function waitsUntil(
  { dueAt, startedAt }: { readonly dueAt: number | null; readonly startedAt: number },
  now: number,
): number | null {
  if (dueAt === null) return null
  const at = startedAt - now <= MOST_AHEAD_MS ? Math.max(dueAt, startedAt) : dueAt
  return at > now ? at : null
}

/** Whether something of it is for a time that has not come: whoever planned it was ahead of the store's clock. */
export function isBeforeItsTime({ settled }: Pick<FireCommand, 'settled'>, now: number): boolean {
  return settled.some(({ nominalAt }) => nominalAt > now)
}
