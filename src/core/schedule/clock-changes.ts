import { readRule } from './read-rule.ts'
import type { RuleSource } from './rule/rule.ts'
import { zoneNamed } from './zones/zone-names.ts'

/** A change of a zone's clocks, and what it does to a rule. */
export interface ClockChange {
  readonly at: number
  /** In seconds ahead of UTC. */
  readonly before: number
  readonly after: number
  /** Times it leaves out: null if the rule names none of them. */
  readonly gap: { readonly firesAt: number | null } | null
  /** Instants it fires at because of times that come twice; null if the rule names none of them. */
  readonly repeat: { readonly fires: readonly number[] } | null
}

/** Enough to see what happens; a rule that fires more often in an hour is not surprised by one. */
const SHOWN = 60

/**
 * The changes of the clocks in [from, until), oldest first. What they do is found by asking the rule
 * itself under the other policies: where the answer differs, the policy matters.
 */
export function clockChanges(source: RuleSource, from: number, until: number): ClockChange[] {
  const zone = zoneNamed(source.zone ?? 'UTC')
  const changes: ClockChange[] = []
  let stretch = zone.stretchAt(Math.floor(from / 1_000))
  while (stretch.to * 1_000 < until) {
    const next = zone.stretchAt(stretch.to)
    if (next.offset !== stretch.offset) {
      changes.push(changeAt(source, stretch.to * 1_000, stretch.offset, next.offset))
    }
    stretch = next
  }
  return changes
}

function changeAt(source: RuleSource, at: number, before: number, after: number): ClockChange {
  const change = { at, before, after }
  if (after > before) return { ...change, gap: gapAt(source, at), repeat: null }
  return { ...change, gap: null, repeat: repeatAt(source, at, (before - after) * 1_000) }
}

/** Times that do not exist are made up for when the clocks have jumped, or not at all. */
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

/** The first time at or after an instant, if the rule had this policy. */
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
