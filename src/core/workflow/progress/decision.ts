import type { Cause, FinalState } from '../../run/run-state.ts'
import type { StepReason } from './step-facts.ts'

/** Why a workflow is being stopped. */
export type WorkflowStopReason = 'cancelled' | 'timeout'

/** The next action for a workflow. All decisions except `start` are final when they are made. */
export type Decision =
  /**
   * A step, or one item of its fan-out, may start. The caller then reports the result: it has a run, it waits for an
   * approval, its number of items, its `if` was false, or it cannot be started.
   */
  | { readonly to: 'start'; readonly step: number; readonly item: number }
  | { readonly to: 'skip'; readonly step: number; readonly reason: StepReason }
  /** A fan-out whose items have ended, or an approval that is not needed any more. */
  | { readonly to: 'close'; readonly step: number; readonly state: FinalState }
  | WorkflowEnd

export interface WorkflowEnd {
  readonly to: 'end'
  readonly state: FinalState
  readonly cause: Cause | null
}
