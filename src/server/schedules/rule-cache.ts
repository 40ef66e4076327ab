import {
  readRule as readRuleOfCore,
  type RuleReading,
  type RuleSource,
} from '../../core/schedule/index.ts'
import type { FireTimes } from '../../core/schedule/firing/firing-plan.ts'
import { decodeSpec, type ScheduleSpec } from '../../core/schedule/firing/schedule-spec.ts'

/** How rules are understood; tests may have rules of their own. */
export type ReadRule = (
  source: RuleSource,
) => { readonly ok: true; readonly rule: FireTimes } | Extract<RuleReading, { readonly ok: false }>

/** A schedule as firing needs it: what it says, and its rule ready to be asked. */
export type Understood =
  | { readonly ok: true; readonly spec: ScheduleSpec<RuleSource>; readonly times: FireTimes }
  | { readonly ok: false; readonly field: string; readonly error: string }

/** Rules, read once each: thousands are due in the same instant, again and again. */
export type RuleBook = (spec: string) => Understood

const MEMO_LIMIT = 100_000

export function createRuleBook(readRule: ReadRule = readRuleOfCore): RuleBook {
  const known = new Map<string, Understood>()

  const understand = (stored: string): Understood => {
    const spec = decodeSpec<RuleSource>(stored)
    const reading = readRule(spec.rule)
    if (reading.ok) return { ok: true, spec, times: reading.rule }
    const { field, message, hint } = reading.problem
    return { ok: false, field, error: hint === undefined ? message : `${message}. ${hint}` }
  }

  return (stored) => {
    const memory = known.get(stored)
    if (memory) return memory
    const understood = understand(stored)
    // What cannot be read now may be readable after an update of the machine's zones.
    if (!understood.ok) return understood
    if (known.size >= MEMO_LIMIT) known.clear()
    known.set(stored, understood)
    return understood
  }
}
