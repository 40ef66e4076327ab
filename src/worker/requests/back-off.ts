import type { Random } from '../../core/clock.ts'

const FIRST_MS = 100
const LONGEST_MS = 3_000

/** How long to wait after so many failures in a row: doubling, bounded, and spread over its upper half. */
export function backOffMs(failures: number, random: Random): number {
  const step = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 30))
  return step * (0.5 + random() / 2)
}
