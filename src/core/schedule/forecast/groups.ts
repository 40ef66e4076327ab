import { readRule, type Rule, type RuleSource } from '../index.ts'
import { countIntervals, readDuration } from '../interval.ts'
import type { MinuteCounts } from '../rule/minute-counts.ts'
import type { Foreseen } from './forecast.ts'

/** Schedules that fire at the same instants. */
export interface Group {
  readonly rule: Rule
  readonly source: RuleSource
  readonly from: number
  /** For one that waits for the end of its runs: how long from one to the next, as it seems. */
  readonly periodMs: number | null
  /** Whether jitter keeps those that are due together apart. */
  readonly isSpread: boolean
  /** Indices into the schedules that were given. */
  readonly members: readonly number[]
}

/** Runs that follow each other at once: what they and their workers take is not known to the millisecond. */
const LEAST_PERIOD_MS = 1_000
/** Reading a rule takes a moment, and the first of a zone a few of them. */
const READ_AT_ONCE = 10

/** Those that are to fire before `until`; rules that cannot be read fire never. */
export function* groupAlike(
  schedules: readonly Foreseen[],
  until: number,
): Generator<void, Group[]> {
  const groups = new Map<string, Group & { readonly members: number[] }>()
  for (const [index, { rule: source, from, durationMs }] of schedules.entries()) {
    if (index % READ_AT_ONCE === READ_AT_ONCE - 1) yield
    const reading = readRule(source)
    if (!reading.ok || from === null || from >= until) continue
    const { rule } = reading
    const { afterFinish } = rule
    const periodMs =
      afterFinish === null ? null : Math.max(LEAST_PERIOD_MS, afterFinish + (durationMs ?? 0))
    const isSpread = hasJitter(source)
    const key = JSON.stringify([sameRule(rule, source), from, periodMs, isSpread])
    const known = groups.get(key)
    if (known) known.members.push(index)
    else groups.set(key, { rule, source, from, periodMs, isSpread, members: [index] })
  }
  return [...groups.values()]
}

/** Adds the times of a group in [from, until) to counts. */
export function countGroup(
  { rule, periodMs }: Group,
  counts: MinuteCounts,
  from: number,
  until: number,
): void {
  if (periodMs === null) rule.countInto(counts, from, until)
  else countIntervals(periodMs, from + (rule.afterFinish ?? 0), counts, from, until)
}

/** Everything the times of a rule depend on. What `H` stands for is a matter of the seed. */
function sameRule({ text }: Rule, { zone, dst, start, end, seed }: RuleSource): unknown[] {
  const isHashed = /\bH\b/.test(text)
  return [text, zone, dst?.gap, dst?.repeat, start, end, isHashed ? seed : null]
}

function hasJitter({ jitter = 0 }: RuleSource): boolean {
  return typeof jitter === 'number' ? jitter > 0 : readDuration(jitter, 'jitter') > 0
}
