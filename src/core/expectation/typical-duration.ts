import type { ExpectationTerms } from './terms.ts'

/** Number of the latest times whose successful runs are considered, and the minimum number of such runs. */
export const SAMPLED_TIMES = 20
export const MIN_SAMPLES = 5
/** Minimum of a relative maximum duration: a run of a few milliseconds may well take several times as long. */
const MIN_TYPICAL_MS = 1_000

/** The median; null if too few durations are known. */
export function typicalDurationMs(durations: readonly number[]): number | null {
  if (durations.length < MIN_SAMPLES) return null
  const sorted = durations.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  const upper = sorted[Math.floor(half)] as number
  const lower = sorted[Math.ceil(half) - 1] as number
  return (lower + upper) / 2
}

/** Replaces the relative maximum duration with an absolute one, or drops it if no typical duration is known. */
export function withTypicalDuration(
  { typicalMultiple, ...terms }: ExpectationTerms,
  durations: readonly number[],
): ExpectationTerms {
  const typicalMs = typicalMultiple === undefined ? null : typicalDurationMs(durations)
  if (typicalMultiple === undefined || typicalMs === null) return terms
  return {
    ...terms,
    longestMs: Math.max(MIN_TYPICAL_MS, Math.round(typicalMs * typicalMultiple.times)),
  }
}
