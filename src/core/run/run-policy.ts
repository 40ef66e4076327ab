import { DEFAULT_RETRY, type RetryPolicy } from './retry.ts'
import type { SecretUse } from '../secrets/secret.ts'

/** The rules for a run, fixed when it is submitted. */
export interface RunPolicy {
  readonly retry: RetryPolicy
  /** `fail` means at most once: a lost attempt is never started again. */
  readonly onLost: 'retry' | 'fail'
  /** Maximum number of lost attempts before the run fails; a job that kills its worker must not loop. */
  readonly lostMax: number
  /** The secrets it receives at the start. Names only: a run never stores a value. */
  readonly secrets: readonly SecretUse[]
}

export const DEFAULT_POLICY: RunPolicy = {
  retry: DEFAULT_RETRY,
  onLost: 'retry',
  lostMax: 3,
  secrets: [],
}

/** The fields that a user may set. */
export interface PolicyInput {
  readonly retry?: Partial<RetryPolicy> | undefined
  readonly onLost?: 'retry' | 'fail' | undefined
  readonly secrets?: readonly SecretUse[] | undefined
}

/** The stored form: `null` for the default, so that most runs store nothing. */
export function encodePolicy(input: PolicyInput): string | null {
  const stored: PolicyInput = {
    ...(input.retry && Object.keys(input.retry).length > 0 ? { retry: input.retry } : {}),
    ...(input.onLost && input.onLost !== 'retry' ? { onLost: input.onLost } : {}),
    ...(input.secrets && input.secrets.length > 0 ? { secrets: input.secrets } : {}),
  }
  return Object.keys(stored).length === 0 ? null : JSON.stringify(stored)
}

/** A delay without a maximum must not be shortened by the default maximum. */
function completeRetry(given: Partial<RetryPolicy> = {}): RetryPolicy {
  const maxDelayMs = Math.max(DEFAULT_RETRY.maxDelayMs, given.delayMs ?? 0)
  return { ...DEFAULT_RETRY, maxDelayMs, ...given }
}

const MEMO_LIMIT = 1_000
const memo = new Map<string, RunPolicy>()

/** Parses each distinct text once: many runs share one policy. */
export function decodePolicy(stored: string | null): RunPolicy {
  if (stored === null) return DEFAULT_POLICY
  const known = memo.get(stored)
  if (known) return known
  const input = JSON.parse(stored) as PolicyInput
  const policy: RunPolicy = {
    retry: completeRetry(input.retry),
    onLost: input.onLost ?? DEFAULT_POLICY.onLost,
    lostMax: DEFAULT_POLICY.lostMax,
    secrets: input.secrets ?? DEFAULT_POLICY.secrets,
  }
  if (memo.size >= MEMO_LIMIT) memo.clear()
  memo.set(stored, policy)
  return policy
}
