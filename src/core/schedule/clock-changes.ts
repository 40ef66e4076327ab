import { readRule } from './read-rule.ts'
import type { RuleSource } from './rule/rule.ts'
import { zoneNamed } from './zones/zone-names.ts'

/** A clock change of a zone and its effect on a rule. */
export interface ClockChange {
  readonly at: number
  /** Offsets in seconds ahead of UTC. */
  readonly before: number
  readonly after: number
  /** The effect of the skipped hour: null if no time of the rule is in it. */
  readonly gap: { readonly firesAt: number | null } | null
  /** The effect of the repeated hour: the fire times in it; null if no time of the rule is in it. */
  readonly repeat: { readonly fires: readonly number[] } | null
}

/** Maximum number of fire times in the result; a rule with more per hour is hardly affected. */
const SHOWN = 60

/**
 * The clock changes in [from, until), oldest first. Their effects are found by evaluating the rule under the other
 * policies: where the result differs, the policy matters.
 */
export function clockChanges(source: RuleSource, from: number, until: number): ClockChange[] {
  const zone = zoneNamed(source.zone ?? 'UTC')
  const changes: ClockChange[] = []
  let period = zone.periodAt(Math.floor(from / 1_000))
  while (period.to * 1_000 < until) {
    const next = zone.periodAt(period.to)
    if (next.offset !== period.offset) {
      changes.push(changeAt(source, period.to * 1_000, period.offset, next.offset))
    }
    period = next
  }
  return changes
}

function changeAt(source: RuleSource, at: number, before: number, after: number): ClockChange {
  const change = { at, before, after }
  if (after > before) return { ...change, gap: gapAt(source, at), repeat: null }
  return { ...change, gap: null, repeat: repeatAt(source, at, (before - after) * 1_000) }
}

/** A time that does not exist fires after the change, or not at all. */
function gapAt(source: RuleSource, at: number): ClockChange['gap'] {
  const isMade = firstFrom(source, { gap: 'run-after' }, at) === at
  const isThereAnyway = firstFrom(source, { gap: 'skip' }, at) === at
  if (!isMade || isThereAnyway) return null
  return { firesAt: source.dst?.gap === 'skip' ? null : at }
}

function repeatAt(source: RuleSource, at: number, shift: number): ClockChange['repeat'] {
  const isAgain =
    firstFrom(source, { repeat: 'both' }, at) !== firstFrom(source, { repeat: 'first' }, at)
  return isAgain ? { fires: firesIn(source, at - shift, at + shift - 1) } : null
}

/** The first time at or after an instant under the given policy. */
function firstFrom(source: RuleSource, dst: RuleSource['dst'], at: number): number | null {
  const reading = readRule({ ...source, dst: { ...source.dst, ...dst } })
  return reading.ok && reading.rule.afterFinish === null ? reading.rule.next(at - 1) : null
}

function firesIn(source: RuleSource, first: number, last: number): number[] {
  const reading = readRule(source)
  if (!reading.ok) return []
  const fires: number[] = []
  for (let at = reading.rule.next(first - 1); at !== null && at <= last;) {
    fires.push(at)
    if (fires.length === SHOWN) break
    at = reading.rule.next(at)
  }
  return fires
}
