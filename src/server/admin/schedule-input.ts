import { PunctualError } from '../../core/errors.ts'
import { nextFrom } from '../../core/schedule/firing/firing-plan.ts'
import { decodeSpec, encodeSpec, type SpecInput } from '../../core/schedule/firing/schedule-spec.ts'
import { LIMITS } from '../../core/limits.ts'
import { scheduleError, pastRuleProblem } from '../../core/schedule/rule/rule-error.ts'
import type { RuleSource } from '../../core/schedule/index.ts'
import type { NextCheck } from '../../store/port.ts'
import type { RuleCache } from '../schedules/rule-cache.ts'

/** The content of a schedule; see `readSchedule` for its input form. */
export type ScheduleInput = SpecInput<RuleSource>

/** The part that the audit log keeps. */
export function storedFieldsOf({ rule, overlap, missed }: ScheduleInput): object {
  return { rule, overlap, missed }
}

/** Distinguishes this schedule from others. */
export function seedOf(project: string, job: string, name: string): string {
  return `${project}/${job}/${name}`
}

/** The stored form; `at` is its position in the request. `H` and jitter are a hash of the seed. */
export function specOf({ rule, ...rest }: ScheduleInput, seed: string, at = ''): string {
  const spec = encodeSpec({ ...rest, rule: { seed, ...rule } })
  const { input } = decodeSpec(spec)
  const bytes = input === undefined ? 0 : Buffer.byteLength(JSON.stringify(input))
  if (bytes <= LIMITS.inlineBytes) return spec
  const field = `${at}input`
  const message = `${field} has ${bytes} bytes; a schedule may give its runs ${LIMITS.inlineBytes}`
  throw new PunctualError('invalid_field', message, { field })
}

/**
 * The first time after `after`. Throws if there is none: a schedule that never fires is a mistake.
 */
export function nextOf(rules: RuleCache, spec: string, after: number, at = ''): NextCheck {
  const parsed = rules(spec)
  if (!parsed.ok) throw scheduleError(at + parsed.field, parsed.error)
  const { times } = parsed
  const next = nextFrom(times, times.next(after))
  if (next.nominalAt !== null) return next
  const { field, message, hint } = pastRuleProblem(parsed.spec.rule)
  throw scheduleError(at + field, message, hint)
}
