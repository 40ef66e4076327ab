import type { Signal } from '../../port.ts'
import { createGateOccupancy, type GateOccupancy } from './gate-occupancy.ts'

/** The gates of a running run; null if the run has a dedupe key, with or without gates. */
export type GatedRuns = Map<number, readonly number[] | null>

/** State shared by the steps of one transaction. */
export interface TickState {
  readonly now: number
  /** The node incarnation that owns new leases. */
  readonly node: number
  /** Gates that a run left or arrived at: admission is due there. */
  readonly touched: Set<number>
  /** Lanes that received ready rows other than by fresh submission. */
  readonly refilled: Set<number>
  /** What this transaction knows about the gates. */
  readonly occupancy: GateOccupancy
  /**
   * Running runs that are known to hold gates or a dedupe key: their end has more to do. Kept
   * across ticks; a new process starts without it, and a bulk statement that meets such a run fails
   * with a mismatch.
   */
  readonly gatedRuns: GatedRuns
  /** Whether runs and ends without options may be written many at a time. */
  readonly inBulk: boolean
  /**
   * Runs that are refused, each with the run that it should start after and that does not exist.
   */
  readonly unknown: Map<number, number>
  /** Signals to report once this is durable. */
  readonly signals: Signal[]
  /** The earliest timer written so far. */
  nextDueAt: number | null
}

export function startTick(
  now: number,
  node: number,
  { gatedRuns = new Map() as GatedRuns, inBulk = false } = {},
): TickState {
  return {
    now,
    node,
    gatedRuns,
    inBulk,
    occupancy: createGateOccupancy(),
    touched: new Set(),
    refilled: new Set(),
    unknown: new Map(),
    signals: [],
    nextDueAt: null,
  }
}

export function trackNextDue(tick: TickState, dueAt: number): void {
  if (tick.nextDueAt === null || dueAt < tick.nextDueAt) tick.nextDueAt = dueAt
}

export function ascending(numbers: Iterable<number>): number[] {
  return [...numbers].sort((a, b) => a - b)
}

/** The gates stored in a run row: JSON text, or null for the many runs without gates. */
export function parseGateIds(stored: string | null): readonly number[] {
  return stored === null ? [] : (JSON.parse(stored) as number[])
}
