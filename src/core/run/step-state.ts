import { type FinalState, STATE_CODE } from './run-state.ts'

/**
 * What is known of a step that was reached. `running`: it has a run, wherever that stands, or its items
 * do. `waiting`: for somebody to say yes or no.
 */
export type StepState = 'running' | 'waiting' | FinalState

/** How it is stored, in both databases. Codes are forever; `waiting` stands where runs are blocked. */
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
