import { PunctualError } from '../../core/errors.ts'
import { nextFrom } from '../../core/schedule/firing/firing-plan.ts'
import { decodeSpec, encodeSpec, type SpecInput } from '../../core/schedule/firing/schedule-spec.ts'
import { LIMITS } from '../../core/limits.ts'
import { refusal } from '../../core/schedule-refusal.ts'
import type { RuleSource } from '../../core/schedule/index.ts'
import type { NextLook } from '../../store/port.ts'
import type { RuleBook } from '../schedules/rule-cache.ts'

/** What a schedule is to say; see `readSchedule` for how people say it. */
export type ScheduleInput = SpecInput<RuleSource>

/** What the record keeps of it. */
export function saidOf({ rule, overlap, missed }: ScheduleInput): object {
  return { rule, overlap, missed }
}

/** What tells this schedule from others. */
export function seedOf(project: string, job: string, name: string): string {
  return `${project}/${job}/${name}`
}

/** As it is stored; `at` is where it stands in the request. `H` and jitter are a hash of the seed. */
export function specOf({ rule, ...rest }: ScheduleInput, seed: string, at = ''): string {
  const spec = encodeSpec({ ...rest, rule: { seed, ...rule } })
  const { input } = decodeSpec(spec)
  const bytes = input === undefined ? 0 : Buffer.byteLength(JSON.stringify(input))
  if (bytes <= LIMITS.inlineBytes) return spec
  const field = `${at}input`
  const message = `${field} has ${bytes} bytes; a schedule may give its runs ${LIMITS.inlineBytes}`
  throw new PunctualError('invalid_field', message, { field })
}

/** The first time after that. Throws if there is none: nobody asks for a schedule that never fires. */
export function nextOf(rules: RuleBook, spec: string, after: number, at = ''): NextLook {
  const understood = rules(spec)
  if (!understood.ok) throw refusal(at + understood.field, understood.error)
  const { times } = understood
  const next = nextFrom(times, times.next(after))
  if (next.nominalAt !== null) return next
  const field = understood.spec.rule.at === undefined ? 'end' : 'at'
  throw refusal(at + field, 'its last time is over', 'Choose a time to come.')
}
