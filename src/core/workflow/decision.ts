import type { Cause, FinalState } from '../run/run-state.ts'
import type { StepReason } from './step-facts.ts'

/** Why a flow is being stopped. */
export type Stop = 'cancelled' | 'timeout'

/** What is to be done next in a flow. Everything but `start` is settled by having been decided. */
export type Decision =
  /**
   * A step, or one item of its fan-out, may start. Whoever does that says what became of it: it has a
   * run, it waits to be approved, it has so many items, its `if` was false, it cannot be started.
   */
  | { readonly to: 'start'; readonly step: number; readonly item: number }
  | { readonly to: 'skip'; readonly step: number; readonly reason: StepReason }
  /** A fan-out whose items are over, or an approval that nobody shall give any more. */
  | { readonly to: 'close'; readonly step: number; readonly state: FinalState }
  | FlowEnd

export interface FlowEnd {
  readonly to: 'end'
  readonly state: FinalState
  readonly cause: Cause | null
}
