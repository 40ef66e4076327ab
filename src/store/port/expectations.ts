import type { ExpectationViolation } from '../../core/expectation/violation.ts'
import type { NewRun } from './tick.ts'

/**
 * Expectations on runs, and their violations. A run with an expectation has a row that says when to
 * check it next; runs without one have no row. Expectations are written in the transaction that
 * creates the run.
 */
export interface ExpectationStore {
  /** When the first expectation has to be checked; null if there are none. Cheap to ask. */
  nextExpectationAt(): Promise<number | null>
  /** Expectations to check by `until`, the earliest first. */
  dueExpectations(input: { until: number; limit: number }): Promise<readonly ExpectationRecord[]>
  /** The expectations that are still open for these runs. */
  expectationsOf(runIds: readonly number[]): Promise<readonly ExpectationRecord[]>
  /**
   * Records the results of checks. Each expectation advances unless another node has advanced it
   * since; a violation is recorded once per run and kind, with an event for the webhooks that
   * subscribe to it. Returns the runs whose expectation advanced.
   */
  settleExpectations(seen: readonly CheckedExpectation[]): Promise<readonly number[]>
  /** Violations of these runs, in the order of the times they violated. */
  violationsOf(runIds: readonly number[]): Promise<readonly ViolationRecord[]>
}

/** What is still expected of a run, and when to check it. */
export interface Expectation {
  readonly checkAt: number
  /** JSON text, opaque to the store. */
  readonly terms: string
}

/** What is expected of a run that is created. */
export interface NewExpectation extends Expectation {
  readonly run: NewRun
}

export interface ExpectationRecord extends Expectation {
  readonly runId: number
  /** Grows with every check. */
  readonly version: number
}

export interface CheckedExpectation {
  readonly runId: number
  /** The version that was checked. */
  readonly version: number
  readonly violations: readonly ExpectationViolation[]
  /** Null: nothing is left to check. */
  readonly remaining: Expectation | null
}

export interface ViolationRecord extends ExpectationViolation {
  readonly runId: number
  /** When it was noticed. */
  readonly at: number
}
