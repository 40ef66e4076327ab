import type { StepState } from '../run/step-state.ts'

/** The API representation of a workflow as part of its run. Fields are only ever added. */

/** The states of a step in the API. `untouched`: the workflow has not reached it yet. */
export const SHOWN_STEP_STATES = [
  'untouched',
  'running',
  'waiting',
  'succeeded',
  'failed',
  'cancelled',
  'skipped',
] as const satisfies readonly (StepState | 'untouched')[]
export type ShownStepState = (typeof SHOWN_STEP_STATES)[number]
export type StepCounts = Readonly<Record<ShownStepState | 'total', number>>

/** The progress of a run that is a workflow. */
export interface WorkflowView {
  /** Counted per job, from 1; a retry keeps the number of the run it repeats. Null before the workflow has begun. */
  readonly wave: number | null
  readonly steps: StepCounts
}

/** The workflow and step that a run belongs to. */
export interface StepIdentity {
  readonly run: string
  readonly name: string
  /** Index in a fan-out, from 0; null if the step has none. */
  readonly item: number | null
}
