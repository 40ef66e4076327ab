import type { Random } from '../../core/clock.ts'
import { exponentialBackoffMs } from '../../core/exponential-backoff.ts'

const FIRST_MS = 100
const LONGEST_MS = 3_000

/**
 * The delay after `failures` consecutive failures: exponential, capped, with jitter in the upper
 * half.
 */
export function backOffMs(failures: number, random: Random): number {
  return exponentialBackoffMs(FIRST_MS, failures, LONGEST_MS) * (0.5 + random() / 2)
}
