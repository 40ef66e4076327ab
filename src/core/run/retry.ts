import { exponentialBackoffMs } from '../exponential-backoff.ts'
import type { Cause } from './run-state.ts'

export const BACKOFFS = ['fixed', 'linear', 'exponential'] as const
export type Backoff = (typeof BACKOFFS)[number]

export interface RetryPolicy {
  /** Maximum number of retries after the first attempt. */
  readonly max: number
  readonly backoff: Backoff
  readonly delayMs: number
  /** The maximum delay, jitter included. */
  readonly maxDelayMs: number
  /** Random share of the delay, 0 … 1: 0.2 varies a delay by ±20 %. */
  readonly jitter: number
  /** Causes that are retried. `lost` is not among them: lost attempts have their own budget. */
  readonly on: readonly Cause[]
}

export const RETRIABLE_CAUSES = [
  'exit',
  'signal',
  'error',
  'timeout',
  'oom',
  'start_error',
] as const

export const DEFAULT_RETRY: RetryPolicy = {
  max: 0,
  backoff: 'exponential',
  delayMs: 1_000,
  maxDelayMs: 3_600_000,
  jitter: 0.2,
  on: RETRIABLE_CAUSES,
}

/** Whether a failure with this cause is retried after `retriesUsed` earlier retries. */
export function mayRetry(policy: RetryPolicy, cause: Cause, retriesUsed: number): boolean {
  return retriesUsed < policy.max && policy.on.includes(cause)
}

/**
 * The delay before retry number `retry` (1 is the first). Jitter is a hash of the run and the retry instead of a
 * random number: both stores, a replay and the simulator compute the same delay, and many failed runs still spread
 * out.
 */
export function retryDelayMs(policy: RetryPolicy, retry: number, runId: number): number {
  const base = growth(policy, retry)
  const spread = (hashFraction(runId, retry) * 2 - 1) * policy.jitter
  return Math.round(Math.min(policy.maxDelayMs, Math.max(0, base * (1 + spread))))
}

function growth(policy: RetryPolicy, retry: number): number {
  switch (policy.backoff) {
    case 'fixed':
      return Math.min(policy.delayMs, policy.maxDelayMs)
    case 'linear':
      return Math.min(policy.delayMs * retry, policy.maxDelayMs)
    case 'exponential':
      return exponentialBackoffMs(policy.delayMs, retry, policy.maxDelayMs)
  }
}

/** A fraction in [0, 1) that looks random and depends only on its two inputs. */
function hashFraction(a: number, b: number): number {
  let hash = 0x811c9dc5
  for (const word of [a % 2 ** 32, Math.floor(a / 2 ** 32), b]) {
    hash = Math.imul(hash ^ (word >>> 0), 0x85ebca6b)
    hash ^= hash >>> 13
    hash = Math.imul(hash, 0xc2b2ae35)
    hash ^= hash >>> 16
  }
  return (hash >>> 0) / 2 ** 32
}
