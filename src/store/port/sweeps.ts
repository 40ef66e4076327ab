import type { Cause } from '../../core/run/run-state.ts'
import type { News } from './workflows.ts'
import type { LanePlace, Lease } from './tick.ts'

/** Sweeps find and promote; endings go through the tick. */
export interface SweepStore {
  /**
   * Moves timers that are due to ready (or, gated, through admission), oldest first, at most
   * `positions.length`; each takes the next position. `nextDueAt` is the earliest timer left.
   */
  promote(input: { positions: readonly number[] }): Promise<Promotion>
  /**
   * Re-derives admission for blocked rows whose recheck time has passed and gives those that stay a
   * new one `recheckMs` ahead. The guarantee behind the fast path in the tick. `gates` are looked at
   * whatever the time: their capacity has changed. So are `runs` that start after others, of which
   * one has ended. Those wait, or go on to their time, their gates and their lane, or are skipped.
   */
  recheck(input: {
    limit: number
    recheckMs: number
    gates?: readonly number[]
    runs?: readonly number[]
  }): Promise<Recheck>
  /** The first ready run of every lane that has one, and how many there are, counted up to `most`. */
  laneHeads(input: { most: number }): Promise<readonly LaneHead[]>
  /** Leases whose node is dead and past its grace, by run id above `after`. */
  orphans(input: { after: number; limit: number }): Promise<readonly Lease[]>
  /** Leases owned by a node, by run id above `after`. */
  ownLeases(input: { node: number; after: number; limit: number }): Promise<readonly Lease[]>
  /** Runs of this node's leases that carry a cancel mark. */
  cancelMarks(input: { node: number }): Promise<readonly number[]>
  /** What became of attempts this node has no memory of. */
  findAttempts(pairs: readonly { runId: number; fence: number }[]): Promise<readonly FoundAttempt[]>
}

export interface Recheck {
  readonly lanes: readonly number[]
  /** Others may be past their time. */
  readonly more: boolean
  /** When the earliest timer row written falls due, if any was. */
  readonly nextDueAt: number | null
  /** For those who waited for what was skipped. */
  readonly news: readonly News[]
  /** Gates that counted other runs than hold them, which is put right. Never seen, and worth a cry. */
  readonly miscounted: readonly number[]
}

export interface LaneHead extends LanePlace {
  readonly laneId: number
  /** At least 1, at most what was asked for. */
  readonly depth: number
}

export type FoundAttempt =
  | { readonly kind: 'lease'; readonly lease: Lease }
  /** Null after a success. */
  | { readonly kind: 'ended'; readonly cause: Cause | null }
  | { readonly kind: 'stale' }

export interface Promotion {
  readonly promoted: number
  readonly lanes: readonly number[]
  readonly nextDueAt: number | null
}
