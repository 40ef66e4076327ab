import type { Cause, AttemptEnd } from './run-state.ts'
import type { RunPolicy } from './run-policy.ts'
import { mayRetry, retryDelayMs } from './retry.ts'

/** The state of an attempt when it ends. */
export interface AttemptSnapshot {
  readonly runId: number
  /** 1 for the first; counts lost attempts, but not attempts that were given back. */
  readonly attempt: number
  /** Number of earlier lost attempts. */
  readonly lost: number
  /** A cancel was requested while it ran. */
  readonly cancelling: boolean
  readonly policy: RunPolicy
}

/**
 * The reported end of an attempt. The worker reports the first three; the node reports `lost` and `given_back` when
 * the worker is gone or draining.
 */
export type AttemptReport =
  | { kind: 'succeeded' }
  | { kind: 'failed'; cause: Exclude<Cause, 'lost' | 'cancelled'>; retriable?: boolean }
  | { kind: 'cancelled' }
  | { kind: 'lost' }
  | { kind: 'given_back' }

/**
 * The only function that decides the end of an attempt. A success wins over a cancel that came too late; any other
 * report cancels a run with a cancel request. A lost attempt uses its own budget, never `retry.max`; an attempt that
 * is given back uses none.
 */
export function endAttempt(attempt: AttemptSnapshot, report: AttemptReport): AttemptEnd {
  if (report.kind === 'succeeded') return { to: 'succeeded' }
  const cause = causeOf(report)
  if (attempt.cancelling || report.kind === 'cancelled') return { to: 'cancelled', cause }
  switch (report.kind) {
    case 'given_back':
      return { to: 'given_back' }
    case 'lost':
      return afterLoss(attempt)
    case 'failed':
      return afterFailure(attempt, report)
  }
}

function afterLoss({ policy, lost }: AttemptSnapshot): AttemptEnd {
  if (policy.onLost === 'fail' || lost >= policy.lostMax) return { to: 'failed', cause: 'lost' }
  return { to: 'retry', cause: 'lost', delayMs: 0, lost: lost + 1 }
}

function afterFailure(
  { runId, attempt, lost, policy }: AttemptSnapshot,
  report: Extract<AttemptReport, { kind: 'failed' }>,
): AttemptEnd {
  const { cause, retriable = true } = report
  const retriesUsed = attempt - 1 - lost
  if (!retriable || !mayRetry(policy.retry, cause, retriesUsed)) return { to: 'failed', cause }
  const delayMs = retryDelayMs(policy.retry, retriesUsed + 1, runId)
  return { to: 'retry', cause, delayMs, lost }
}

function causeOf(report: Exclude<AttemptReport, { kind: 'succeeded' }>): Cause {
  switch (report.kind) {
    case 'failed':
      return report.cause
    case 'lost':
      return 'lost'
    case 'cancelled':
    case 'given_back':
      return 'cancelled'
  }
}
