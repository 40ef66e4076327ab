import { type Expectations, withExpectationsOf } from '../../core/expectation/expectations.ts'
import { firstLook } from '../../core/expectation/check-expectations.ts'
import { termsOf } from '../../core/expectation/terms.ts'
import type { FireTimes } from '../../core/schedule/firing/firing-plan.ts'
import type { ScheduleSpec } from '../../core/schedule/firing/schedule-spec.ts'
import type { RuleSource } from '../../core/schedule/index.ts'
import type { Expectation } from '../../store/port.ts'

/** What is expected of the run of a time, by its schedule and by its job; undefined for nothing. */
export function expectedOf(
  nominalAt: number,
  of: {
    readonly scheduleId: number
    readonly spec: ScheduleSpec<RuleSource>
    readonly times: Pick<FireTimes, 'jitterOf'>
    readonly job: Expectations
  },
): Expectation | undefined {
  const { scheduleId, spec, times, job } = of
  const fireAt = nominalAt + times.jitterOf(nominalAt)
  const time = { scheduleId, nominalAt, fireAt, zone: spec.rule.zone ?? 'UTC' }
  const terms = termsOf(withExpectationsOf(job, spec), time)
  return terms ? { lookAt: firstLook(terms, nominalAt), terms: JSON.stringify(terms) } : undefined
}
