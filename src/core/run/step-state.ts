import { type FinalState, STATE_CODE } from './run-state.ts'

/**
 * The state of a step that was reached. `running`: it has a run in any state, or its items have. `waiting`: it waits
 * for an approval.
 */
export type StepState = 'running' | 'waiting' | FinalState

/** The stored codes in both databases. Codes never change; `waiting` has the code of blocked runs. */
export const STEP_CODE = {
  running: STATE_CODE.running,
  waiting: STATE_CODE.blocked,
  succeeded: STATE_CODE.succeeded,
  failed: STATE_CODE.failed,
  cancelled: STATE_CODE.cancelled,
  skipped: STATE_CODE.skipped,
} as const satisfies Record<StepState, number>

const BY_CODE = new Map(
  (Object.keys(STEP_CODE) as StepState[]).map((state) => [STEP_CODE[state] as number, state]),
)

export function stepStateOf(code: number): StepState {
  const state = BY_CODE.get(code)
  if (state === undefined) throw new RangeError(`no state of a step has code ${code}`)
  return state
}
