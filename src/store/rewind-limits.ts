import { LIMITS } from '../core/limits.ts'

/** Timers that the store itself set wait at most this long after the clock was set back. */
export const MAX_INTERNAL_WAIT_MS = 60_000
/** Idempotency keys are valid for at most this long from now. */
export const MAX_KEY_MS = LIMITS.idempotencyMs

/**
 * The nominal time that is to be skipped. It is kept after it has passed: if the clock is set back
 * before it, the time comes again and is skipped again.
 */
export function pendingSkip(skipAt: number | null, nextNominalAt: number | null): number | null {
  const isComing = skipAt !== null && nextNominalAt !== null && skipAt >= nextNominalAt
  return isComing ? skipAt : null
}
