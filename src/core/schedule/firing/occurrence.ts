/**
 * The outcome of a nominal time of a schedule. Every time that came due has exactly one:
 * - `fired`: it became a run, in time.
 * - `delayed`: it became a run, later than it should have.
 * - `blocked`: it became a run that waits for an earlier run of the same schedule to end.
 * - `skipped`: it became no run, by request or by the overlap policy.
 * - `merged`: a run that already waits also counts for this time.
 * - `missed`: no node fired it in time, and the missed policy creates no run.
 */
export const OCCURRENCE_OUTCOMES = [
  'fired',
  'delayed',
  'blocked',
  'skipped',
  'merged',
  'missed',
] as const
export type OccurrenceOutcome = (typeof OCCURRENCE_OUTCOMES)[number]

/** The stored codes of outcomes in both databases. Codes never change. */
export const OUTCOME_CODE = {
  fired: 0,
  delayed: 1,
  blocked: 2,
  skipped: 3,
  merged: 4,
  missed: 5,
} as const satisfies Record<OccurrenceOutcome, number>

export function outcomeOfCode(code: number): OccurrenceOutcome {
  const outcome = OCCURRENCE_OUTCOMES.find((one) => OUTCOME_CODE[one] === code)
  if (outcome === undefined) throw new RangeError(`no outcome has code ${code}`)
  return outcome
}

/** Whether the time became a run. */
export function hasRun(outcome: OccurrenceOutcome): boolean {
  return OUTCOME_CODE[outcome] <= OUTCOME_CODE.blocked
}

/**
 * Why the outcome is not simply `fired`. Stored by name.
 * - `late`: no node fired it in time. `made_up`: it was missed, and the missed policy created a run.
 * - `overlap`: a run of the same schedule had not ended.
 * - `asked`: a user requested to skip it. `paused`, `job_paused`, `edited`, `deleted`: changes by users in the
 *   meantime.
 * - `policy`: the policy creates no runs for missed times. `superseded`: a later time got the run. `too_old`,
 *   `too_many`: beyond a limit of the policy.
 * - `cannot_start`: the run could not be created; the detail says why.
 * - `clock_set_back`: void. The clock was ahead; the time fires again when it really comes.
 */
export const OCCURRENCE_REASONS = [
  'late',
  'made_up',
  'overlap',
  'asked',
  'paused',
  'job_paused',
  'edited',
  'deleted',
  'policy',
  'superseded',
  'too_old',
  'too_many',
  'cannot_start',
  'clock_set_back',
] as const
export type OccurrenceReason = (typeof OCCURRENCE_REASONS)[number]
