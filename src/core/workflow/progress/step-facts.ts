import type { FinalState } from '../../run/run-state.ts'
import type { StepState } from '../../run/step-state.ts'

/** Why a step was skipped, or failed without a run. Stored by name. */
export const STEP_REASONS = [
  /** Its own `if` was false: counts as done for the steps that need it. */
  'condition',
  /** A user skipped it: counts as done. */
  'operator',
  /** Its `when` rule can no longer be met. */
  'needs',
  /** The workflow was cancelled, or timed out, before the step could start. */
  'cancelled',
  'timeout',
  /** An expression of the step has no value. */
  'expression',
  /** Its run was not accepted. */
  'submission',
  /** A user refused the approval, or no user answered in time. */
  'refused',
  'expired',
] as const
export type StepReason = (typeof STEP_REASONS)[number]

/** The item number of a fact about the step as a whole. */
export const WHOLE_STEP = -1

/** One known fact about a step. A later fact about the same step and item replaces it. */
export interface StepFact {
  /** Index of the step in the definition. */
  readonly step: number
  /** Index of the item in the fan-out, from 0, or WHOLE_STEP. */
  readonly item: number
  readonly state: StepState
  readonly reason: StepReason | null
  /** The number of items of a fan-out; null for everything else. */
  readonly count: number | null
}

/** How the end of a step counts for the steps that need it. */
export type StepOutcome = 'ok' | 'failed' | 'skipped'

export function isSettled(state: StepState): state is FinalState {
  return state !== 'running' && state !== 'waiting'
}

export function stepOutcomeOf(state: FinalState, reason: StepReason | null): StepOutcome {
  switch (state) {
    case 'succeeded':
      return 'ok'
    case 'failed':
    case 'cancelled':
      return 'failed'
    case 'skipped':
      return reason === 'condition' || reason === 'operator' ? 'ok' : 'skipped'
  }
}
