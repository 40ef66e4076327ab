import { DEFAULT_RETRY, type RetryPolicy } from './retry.ts'
import type { SecretUse } from '../work/secret.ts'

/** What a run is allowed and promised, fixed when it is submitted. */
export interface RunPolicy {
  readonly retry: RetryPolicy
  /** `fail` = at most once: a lost attempt is never started again. */
  readonly onLost: 'retry' | 'fail'
  /** How many attempts may be lost before the run fails; a job that kills its worker must not loop. */
  readonly lostMax: number
  /** What it is to be given when it starts. Names only: a run never holds a value. */
  readonly secrets: readonly SecretUse[]
}

export const DEFAULT_POLICY: RunPolicy = {
  retry: DEFAULT_RETRY,
  onLost: 'retry',
  lostMax: 3,
  secrets: [],
}

/** What of a policy a user may leave out. */
export interface PolicyInput {
  readonly retry?: Partial<RetryPolicy> | undefined
  readonly onLost?: 'retry' | 'fail' | undefined
  readonly secrets?: readonly SecretUse[] | undefined
}

/** The stored form: `null` for the default, so that the common run carries nothing. */
export function encodePolicy(input: PolicyInput): string | null {
  const stored: PolicyInput = {
    ...(input.retry && Object.keys(input.retry).length > 0 ? { retry: input.retry } : {}),
    ...(input.onLost && input.onLost !== 'retry' ? { onLost: input.onLost } : {}),
    ...(input.secrets && input.secrets.length > 0 ? { secrets: input.secrets } : {}),
  }
  return Object.keys(stored).length === 0 ? null : JSON.stringify(stored)
}

/** Whoever asks for a long delay and names no longest one has not asked for a shorter delay. */
function completeRetry(given: Partial<RetryPolicy> = {}): RetryPolicy {
  const maxDelayMs = Math.max(DEFAULT_RETRY.maxDelayMs, given.delayMs ?? 0)
  return { ...DEFAULT_RETRY, maxDelayMs, ...given }
}

const MEMO_LIMIT = 1_000
const memo = new Map<string, RunPolicy>()

/** Many runs share one policy; the few distinct texts are parsed once. */
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
