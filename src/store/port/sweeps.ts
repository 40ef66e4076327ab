import type { Cause } from '../../core/run/run-state.ts'
import type { Signal } from './workflows.ts'
import type { LanePosition, Lease } from './tick.ts'

/** Sweeps find and promote rows; attempts end through the tick. */
export interface SweepStore {
  /**
   * Moves due timers to ready (or, gated, through admission), oldest first, at most
   * `positions.length`; each takes the next position. `nextDueAt` is the earliest timer left.
   */
  promote(input: { positions: readonly number[]; isClockOff?: boolean }): Promise<PromoteResult>
  /**
   * Re-derives admission for blocked rows whose recheck time has passed, and gives those that stay
   * blocked a new recheck time `recheckMs` ahead. This is the guarantee behind the fast path in the
   * tick. Gates in `gates` are checked at any time, because their capacity has changed. So are runs
   * in `runs`, which start after other runs of which one has ended: they keep waiting, move on to
   * their timer, gate or lane, or are skipped.
   */
  recheck(input: {
    limit: number
    recheckMs: number
    gates?: readonly number[]
    runs?: readonly number[]
  }): Promise<RecheckResult>
  /**
   * The first ready run of every lane that has one, and how many there are, counted up to
   * `maxCount`.
   */
  laneHeads(input: { maxCount: number }): Promise<readonly LaneHead[]>
  /** Leases whose node is dead and past its grace, by run id above `after`. */
  orphans(input: { after: number; limit: number }): Promise<readonly Lease[]>
  /** Leases owned by a node, by run id above `after`. */
  ownLeases(input: { node: number; after: number; limit: number }): Promise<readonly Lease[]>
  /** Runs of this node's leases that carry a cancel mark. */
  cancelMarks(input: { node: number }): Promise<readonly number[]>
  /** What became of attempts that this node has no memory of. */
  findAttempts(pairs: readonly { runId: number; fence: number }[]): Promise<readonly FoundAttempt[]>
}

export interface RecheckResult {
  readonly lanes: readonly number[]
  /** More rows may be past their recheck time. */
  readonly more: boolean
  /** When the earliest timer row written falls due, if any was. */
  readonly nextDueAt: number | null
  /** Signals for runs that waited for the skipped ones. */
  readonly signals: readonly Signal[]
  /** Gates whose count of holders was wrong and was corrected. Never expected; worth an alarm. */
  readonly miscounted: readonly number[]
}

export interface LaneHead extends LanePosition {
  readonly laneId: number
  /** Between 1 and the requested maximum. */
  readonly depth: number
}

export type FoundAttempt =
  | { readonly kind: 'lease'; readonly lease: Lease }
  /** Null after a success. */
  | { readonly kind: 'ended'; readonly cause: Cause | null }
  | { readonly kind: 'stale' }

export interface PromoteResult {
  readonly promoted: number
  readonly lanes: readonly number[]
  readonly nextDueAt: number | null
}
