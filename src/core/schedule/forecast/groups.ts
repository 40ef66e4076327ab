import { readRule, type Rule, type RuleSource } from '../index.ts'
import { countIntervals, readDuration } from '../interval.ts'
import type { MinuteCounts } from '../rule/minute-counts.ts'
import type { ForecastSchedule } from './forecast.ts'

/** Schedules that fire at the same times. */
export interface FiringGroup {
  readonly rule: Rule
  readonly source: RuleSource
  readonly from: number
  /** For a rule that counts from the end of the run: the estimated distance between two runs. */
  readonly periodMs: number | null
  /** Whether jitter spreads the members' fire times. */
  readonly isSpread: boolean
  /** Indices into the given schedules. */
  readonly members: readonly number[]
}

/** Minimum distance of runs that follow each other immediately: their duration is not known to the millisecond. */
const MIN_PERIOD_MS = 1_000
/** Number of rules read between two yields: reading a rule takes a moment, and the first of each zone longer. */
const RULES_PER_STEP = 10

/** Groups the schedules that fire before `until`. A rule that cannot be read never fires. */
export function* groupAlike(
  schedules: readonly ForecastSchedule[],
  until: number,
): Generator<void, FiringGroup[]> {
  const groups = new Map<string, FiringGroup & { readonly members: number[] }>()
  for (const [index, { rule: source, from, durationMs }] of schedules.entries()) {
    if (index % RULES_PER_STEP === RULES_PER_STEP - 1) yield
    const reading = readRule(source)
    if (!reading.ok || from === null || from >= until) continue
    const { rule } = reading
    const { afterFinish } = rule
    const periodMs =
      afterFinish === null ? null : Math.max(MIN_PERIOD_MS, afterFinish + (durationMs ?? 0))
    const isSpread = hasJitter(source)
    const key = JSON.stringify([sameRule(rule, source), from, periodMs, isSpread])
    const known = groups.get(key)
    if (known) known.members.push(index)
    else groups.set(key, { rule, source, from, periodMs, isSpread, members: [index] })
  }
  return [...groups.values()]
}

/** Adds the times of a group in [from, until) to the counts. */
export function countGroup(
  { rule, periodMs }: FiringGroup,
  counts: MinuteCounts,
  from: number,
  until: number,
): void {
  if (periodMs === null) rule.countInto(counts, from, until)
  else countIntervals(periodMs, from + (rule.afterFinish ?? 0), counts, from, until)
}

/** Everything the times of a rule depend on. The seed decides the meaning of `H`. */
function sameRule({ text }: Rule, { zone, dst, start, end, seed }: RuleSource): unknown[] {
  const isHashed = /\bH\b/.test(text)
  return [text, zone, dst?.gap, dst?.repeat, start, end, isHashed ? seed : null]
}

function hasJitter({ jitter = 0 }: RuleSource): boolean {
  return typeof jitter === 'number' ? jitter > 0 : readDuration(jitter, 'jitter') > 0
}
