import { parseDuration } from '../text/duration.ts'
import { PunctualError } from '../errors.ts'
import { countAt, type MinuteCounts } from './rule/minute-counts.ts'
import { Refusal } from './rule/rule-error.ts'

/** A rule that fires faster is a loop, not a schedule. */
const LEAST_MS = 1_000
const UNITS = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const

/** A duration to wait between two fires. */
export function readInterval(text: string, field: string): number {
  const ms = readDuration(text, field)
  if (ms >= LEAST_MS) return ms
  throw new Refusal(field, `${text} is less than a second`, 'The least is 1s.')
}

/** A duration to wait between the end of a run and the next: none at all, if that is what is wanted. */
export function readDelay(text: string, field: string): number {
  return readDuration(text, field) === 0 ? 0 : readInterval(text, field)
}

export function readDuration(text: string, field: string): number {
  try {
    return parseDuration(text, field)
  } catch (error) {
    if (error instanceof PunctualError) throw new Refusal(field, error.message)
    throw error
  }
}

/** All of it and nothing more, unlike what is meant for people in a hurry: `1w1d`, `1h30m`. */
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

/** Fires are whole intervals from the anchor on, and the anchor is the first of them. */
export function nextInterval(ms: number, anchor: number, after: number): number {
  return after < anchor ? anchor : anchor + (Math.floor((after - anchor) / ms) + 1) * ms
}

const MINUTE_MS = 60_000

/** Adds those in [from, until). Of short ones, those before an instant are counted, minute by minute. */
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
