import { type Expectations, withExpectationsOf } from '../../core/expectation/expectations.ts'
import { firstCheckAt } from '../../core/expectation/check-expectations.ts'
import { encodeTerms, expectationTermsOf } from '../../core/expectation/terms.ts'
import type { FireTimes } from '../../core/schedule/firing/firing-plan.ts'
import type { ScheduleSpec } from '../../core/schedule/firing/schedule-spec.ts'
import type { RuleSource } from '../../core/schedule/index.ts'
import type { Expectation } from '../../store/port.ts'

/**
 * Expectations for the run of a schedule time, from its schedule and its job; undefined if there
 * are none.
 */
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
  const terms = expectationTermsOf(withExpectationsOf(job, spec), time)
  return terms ? { checkAt: firstCheckAt(terms, nominalAt), terms: encodeTerms(terms) } : undefined
}
