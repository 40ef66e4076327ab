import {
  readRule as readRuleOfCore,
  type RuleReading,
  type RuleSource,
} from '../../core/schedule/index.ts'
import type { FireTimes } from '../../core/schedule/firing/firing-plan.ts'
import { decodeSpec, type ScheduleSpec } from '../../core/schedule/firing/schedule-spec.ts'

/** Parses rules; tests may use rules of their own. */
export type ReadRule = (
  source: RuleSource,
) => { readonly ok: true; readonly rule: FireTimes } | Extract<RuleReading, { readonly ok: false }>

/** A schedule as firing needs it: its specification and its parsed rule. */
export type ParsedRule =
  | { readonly ok: true; readonly spec: ScheduleSpec<RuleSource>; readonly times: FireTimes }
  | { readonly ok: false; readonly field: string; readonly error: string }

/** Cache of parsed rules: thousands are due at the same time, again and again. */
export type RuleCache = (spec: string) => ParsedRule

const MEMO_LIMIT = 100_000

export function createRuleCache(readRule: ReadRule = readRuleOfCore): RuleCache {
  const known = new Map<string, ParsedRule>()

  const understand = (stored: string): ParsedRule => {
    const spec = decodeSpec<RuleSource>(stored)
    const reading = readRule(spec.rule)
    if (reading.ok) return { ok: true, spec, times: reading.rule }
    const { field, message, hint } = reading.problem
    return { ok: false, field, error: hint === undefined ? message : `${message}. ${hint}` }
  }

  return (stored) => {
    const memory = known.get(stored)
    if (memory) return memory
    const parsed = understand(stored)
    // A rule that cannot be parsed now may become readable after an update of the machine's zones.
    if (!parsed.ok) return parsed
    if (known.size >= MEMO_LIMIT) known.clear()
    known.set(stored, parsed)
    return parsed
  }
}
