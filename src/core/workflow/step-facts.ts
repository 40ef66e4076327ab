import type { FinalState } from '../run/run-state.ts'
import type { StepState } from '../run/step-state.ts'

/** Why a step was skipped, or failed without a run. Stored by name. */
export const STEP_REASONS = [
  /** Its own `if` was false: as good as done, for those who need it. */
  'condition',
  /** Somebody skipped it: as good as done. */
  'operator',
  /** What its `when` asks for can no longer come true. */
  'needs',
  /** The flow was cancelled, or ran out of time, before it could start. */
  'cancelled',
  'timeout',
  /** An expression of it has no value. */
  'expression',
  /** What it asks for was not accepted as a run. */
  'submission',
  /** Somebody said no, or nobody said anything in time. */
  'refused',
  'expired',
] as const
export type StepReason = (typeof STEP_REASONS)[number]

/** Facts about a step itself, rather than about one item of its fan-out. */
export const WHOLE = -1

/** One thing that is known about a step. A later fact about the same place replaces it. */
export interface StepFact {
  /** Its index in the definition. */
  readonly step: number
  /** An item of its fan-out, from 0 on, or WHOLE. */
  readonly item: number
  readonly state: StepState
  readonly reason: StepReason | null
  /** How many items a fan-out has; null for everything else. */
  readonly count: number | null
}

/** What those who need a step make of how it ended. */
export type Outcome = 'ok' | 'failed' | 'skipped'

export function isSettled(state: StepState): state is FinalState {
  return state !== 'running' && state !== 'waiting'
}

export function outcomeOf(state: FinalState, reason: StepReason | null): Outcome {
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
