/**
 * What became of a nominal time of a schedule. Every time that ever came due has exactly one of these:
 * - `fired`: it became a run, in time.
 * - `delayed`: it became a run, later than it should have.
 * - `blocked`: it became a run that waits for an earlier one of the same schedule to end.
 * - `skipped`: somebody, or the overlap policy, wanted no run.
 * - `merged`: a run that already waits stands for it as well.
 * - `missed`: nobody was there in time, and the missed policy wants no run any more.
 */
export const OUTCOMES = ['fired', 'delayed', 'blocked', 'skipped', 'merged', 'missed'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** How an outcome is stored, in both databases. Codes are forever. */
export const OUTCOME_CODE = {
  fired: 0,
  delayed: 1,
  blocked: 2,
  skipped: 3,
  merged: 4,
  missed: 5,
} as const satisfies Record<Outcome, number>

export function outcomeOfCode(code: number): Outcome {
  const outcome = OUTCOMES.find((one) => OUTCOME_CODE[one] === code)
  if (outcome === undefined) throw new RangeError(`no outcome has code ${code}`)
  return outcome
}

/** Whether a run was made for it. */
export function hasRun(outcome: Outcome): boolean {
  return OUTCOME_CODE[outcome] <= OUTCOME_CODE.blocked
}

/**
 * Why it is not simply `fired`. Stored by name.
 * - `late`: no node fired it in time. `made_up`: it was missed, and the missed policy wants a run all the same.
 * - `overlap`: a run of the same schedule had not ended.
 * - `asked`: somebody asked to skip this one. `paused`, `job_paused`, `edited`, `deleted`: what people did meanwhile.
 * - `policy`: missed ones are not made up for. `superseded`: a later one was. `too_old`, `too_many`: see the policy.
 * - `cannot_start`: a run could not be made; the detail says why.
 */
export const REASONS = [
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
] as const
export type Reason = (typeof REASONS)[number]
