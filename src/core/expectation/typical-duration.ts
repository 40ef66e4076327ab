import type { Terms } from './terms.ts'

/** Of so many of its last times those that succeeded are looked at, and fewer than these say nothing. */
export const TIMES_LOOKED_AT = 20
export const LEAST_KNOWN = 5
/** Of runs that take milliseconds, several times as many are nothing to wake anybody for. */
const LEAST_MS = 1_000

/** The median; null where too few are known to say what is usual. */
export function usualMs(durations: readonly number[]): number | null {
  if (durations.length < LEAST_KNOWN) return null
  const sorted = durations.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  const upper = sorted[Math.floor(half)] as number
  const lower = sorted[Math.ceil(half) - 1] as number
  return (lower + upper) / 2
}

/** Terms whose longest duration is known, or known not to be. */
export function withUsual({ usually, ...terms }: Terms, durations: readonly number[]): Terms {
  const usual = usually === undefined ? null : usualMs(durations)
  if (usually === undefined || usual === null) return terms
  return { ...terms, longestMs: Math.max(LEAST_MS, Math.round(usual * usually.times)) }
}
