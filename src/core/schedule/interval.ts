import { parseDuration } from '../text/duration.ts'
import { PunctualError } from '../errors.ts'
import { countAt, type MinuteCounts } from './rule/minute-counts.ts'
import { RuleError } from './rule/rule-error.ts'

/** Minimum interval of a schedule. */
const MIN_MS = 1_000
const UNITS = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const

/** Reads the interval between two fires. */
export function readInterval(text: string, field: string): number {
  const ms = readDuration(text, field)
  if (ms >= MIN_MS) return ms
  throw new RuleError(field, `${text} is less than a second`, 'The minimum is 1s.')
}

/** Reads the delay between the end of a run and the next one; it may be zero. */
export function readDelay(text: string, field: string): number {
  return readDuration(text, field) === 0 ? 0 : readInterval(text, field)
}

export function readDuration(text: string, field: string): number {
  try {
    return parseDuration(text, field)
  } catch (error) {
    if (error instanceof PunctualError) throw new RuleError(field, error.message)
    throw error
  }
}

/** The exact duration, unlike the rounded form for display: `1w1d`, `1h30m`. */
export function writeInterval(ms: number): string {
  let rest = ms
  let text = ''
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) text += `${count}${unit}`
  }
  return text || '0s'
}

/** Fires are at whole intervals from the anchor on; the anchor is the first. */
export function nextInterval(ms: number, anchor: number, after: number): number {
  return after < anchor ? anchor : anchor + (Math.floor((after - anchor) / ms) + 1) * ms
}

const MINUTE_MS = 60_000

/** Adds the fires in [from, until) to the counts. For short intervals, the fires of each minute are computed. */
export function countIntervals(
  ms: number,
  anchor: number,
  counts: MinuteCounts,
  from: number,
  until: number,
): void {
  const first = nextInterval(ms, anchor, from - 1)
  if (ms >= MINUTE_MS) {
    for (let at = first; at < until; at += ms) countAt(counts, at)
    return
  }
  let counted = 0
  for (let at = first; at < until;) {
    const end = Math.min(until, (Math.floor(at / MINUTE_MS) + 1) * MINUTE_MS)
    const before = Math.ceil((end - first) / ms)
    countAt(counts, at, before - counted)
    counted = before
    at = end
  }
}
