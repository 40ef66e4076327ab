import type { Lapse } from '../../core/expectation/violation.ts'

/**
 * What is expected of runs, and what did not come true. A run that something is expected of has a row
 * that says when to look at it next; where nobody expects anything there are none. Expectations are
 * written down in the transaction that makes the run.
 */
export interface LapseStore {
  /** When the first of all is to be looked at; null if nothing is expected. Cheap to ask. */
  nextExpectationAt(): Promise<number | null>
  /** Those to be looked at by `until`, the earliest first. */
  dueExpectations(input: { until: number; limit: number }): Promise<readonly ExpectationRecord[]>
  /** Of these runs, those of which something is expected still. */
  expectationsOf(runIds: readonly number[]): Promise<readonly ExpectationRecord[]>
  /**
   * What was seen: each is moved on unless somebody else has done so since, and what did not come true is
   * written down, once for a run and kind, with an event for the webhooks that ask for it. Answers with
   * the runs that were moved on.
   */
  settleExpectations(seen: readonly SeenExpectation[]): Promise<readonly number[]>
  /** What did not come true of these runs, in the order it should have. */
  lapsesOf(runIds: readonly number[]): Promise<readonly LapseRecord[]>
}

/** What is still expected of a run, and when to look. */
export interface Expectation {
  readonly lookAt: number
  /** JSON text, never looked into. */
  readonly terms: string
}

export interface ExpectationRecord extends Expectation {
  readonly runId: number
  /** Grows with every look. */
  readonly version: number
}

export interface SeenExpectation {
  readonly runId: number
  /** As it was when it was looked at. */
  readonly version: number
  readonly lapses: readonly Lapse[]
  /** Null: nothing is left to be seen. */
  readonly left: Expectation | null
}

export interface LapseRecord extends Lapse {
  readonly runId: number
  /** When it was noticed. */
  readonly at: number
}
