import type { Expectations } from '../../expectation/expectations.ts'
import { DEFAULT_MISSED, type MissedPolicy } from './missed.ts'
import { DEFAULT_OVERLAP, type Overlap } from './overlap.ts'

/** A schedule as it is stored: everything but its name and what becomes of it. `Source` is how its rule is written. */
export interface ScheduleSpec<Source = unknown> extends Expectations {
  readonly rule: Source
  readonly overlap: Overlap
  readonly missed: MissedPolicy
  /** What its runs get; absent: nothing. */
  readonly input?: unknown
  /** Of its runs, when it is not that of the job. */
  readonly priority?: number | undefined
  /** It stands in the definition of its job, and goes when it no longer does. */
  readonly declared?: true | undefined
}

/** What is not said is as usual. */
export type SpecInput<Source> = Omit<ScheduleSpec<Source>, 'overlap' | 'missed'> & {
  readonly overlap?: Overlap | undefined
  readonly missed?: Partial<MissedPolicy> | undefined
}

/**
 * Everything is written down, defaults too: a later version of the program must not change a schedule.
 * Always in this order, because one that did not change is recognised by its text.
 */
export function encodeSpec<Source>(said: SpecInput<Source>): string {
  const { rule, overlap, missed, input, priority, deadlineMs, expectMs, declared } = said
  const { deadlineClock, expectTimes, expectStartMs, expectOutput } = said
  const spec: ScheduleSpec<Source> = {
    rule,
    overlap: overlap ?? DEFAULT_OVERLAP,
    missed: { ...DEFAULT_MISSED, ...missed },
    ...{ input, priority, deadlineMs, expectMs, declared },
    ...{ deadlineClock, expectTimes, expectStartMs, expectOutput },
  }
  return JSON.stringify(spec)
}

export function decodeSpec<Source>(stored: string): ScheduleSpec<Source> {
  return JSON.parse(stored) as ScheduleSpec<Source>
}
