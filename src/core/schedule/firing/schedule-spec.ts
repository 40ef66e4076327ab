import type { Expectations } from '../../expectation/expectations.ts'
import { DEFAULT_MISSED, type MissedPolicy } from './missed.ts'
import { DEFAULT_OVERLAP, type Overlap } from './overlap.ts'

/** A schedule as it is stored, without its name and state. `Source` is the written form of its rule. */
export interface ScheduleSpec<Source = unknown> extends Expectations {
  readonly rule: Source
  readonly overlap: Overlap
  readonly missed: MissedPolicy
  /** The input of its runs; absent for none. */
  readonly input?: unknown
  /** The priority of its runs, if it differs from that of the job. */
  readonly priority?: number | undefined
  /** The schedule is part of the definition of its job and is deleted when it is removed there. */
  readonly declared?: true | undefined
}

/** Absent fields have their default. */
export type SpecInput<Source> = Omit<ScheduleSpec<Source>, 'overlap' | 'missed'> & {
  readonly overlap?: Overlap | undefined
  readonly missed?: Partial<MissedPolicy> | undefined
}

/**
 * Writes every field, including defaults: a later version of the program must not change the meaning of a stored
 * schedule. The order of fields is fixed, because texts are compared to detect a changed schedule.
 */
export function encodeSpec<Source>(stated: SpecInput<Source>): string {
  const { rule, overlap, missed, input, priority, deadlineMs, expectMs, declared } = stated
  const { deadlineClock, expectTimes, expectStartMs, expectOutput } = stated
  const spec: ScheduleSpec<Source> = {
    rule,
    overlap: overlap ?? DEFAULT_OVERLAP,
    missed: { ...DEFAULT_MISSED, ...missed },
    input,
    priority,
    deadlineMs,
    expectMs,
    declared,
    deadlineClock,
    expectTimes,
    expectStartMs,
    expectOutput,
  }
  return JSON.stringify(spec)
}

export function decodeSpec<Source>(stored: string): ScheduleSpec<Source> {
  return JSON.parse(stored) as ScheduleSpec<Source>
}
