import type { Cause, Ending } from './run-state.ts'
import type { RunPolicy } from './run-policy.ts'
import { mayRetry, retryDelayMs } from './retry.ts'

/** What is known about an attempt when something says it is over. */
export interface AttemptUnderWay {
  readonly runId: number
  /** 1 for the first; counts lost attempts, not those given back. */
  readonly attempt: number
  /** How many earlier attempts were lost. */
  readonly lost: number
  /** A cancel was asked for while it ran. */
  readonly cancelling: boolean
  readonly policy: RunPolicy
}

/** Who says so: the worker (first three), or whoever noticed the worker is gone or draining. */
export type Report =
  | { kind: 'succeeded' }
  | { kind: 'failed'; cause: Exclude<Cause, 'lost' | 'cancelled'>; retriable?: boolean }
  | { kind: 'cancelled' }
  | { kind: 'lost' }
  | { kind: 'given_back' }

/**
 * The one function that ends an attempt. Success wins over a cancel that came too late to stop it;
 * everything else that happens to a run being cancelled cancels it. Lost attempts spend their own
 * budget, never `retry.max`; what is given back spends nothing.
 */
export function endAttempt(attempt: AttemptUnderWay, report: Report): Ending {
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

function afterLoss({ policy, lost }: AttemptUnderWay): Ending {
  if (policy.onLost === 'fail' || lost >= policy.lostMax) return { to: 'failed', cause: 'lost' }
  return { to: 'retry', cause: 'lost', delayMs: 0, lost: lost + 1 }
}

function afterFailure(
  { runId, attempt, lost, policy }: AttemptUnderWay,
  report: Extract<Report, { kind: 'failed' }>,
): Ending {
  const { cause, retriable = true } = report
  const retriesUsed = attempt - 1 - lost
  if (!retriable || !mayRetry(policy.retry, cause, retriesUsed)) return { to: 'failed', cause }
  const delayMs = retryDelayMs(policy.retry, retriesUsed + 1, runId)
  return { to: 'retry', cause, delayMs, lost }
}

function causeOf(report: Exclude<Report, { kind: 'succeeded' }>): Cause {
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
