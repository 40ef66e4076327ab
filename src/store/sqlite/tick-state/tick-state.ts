import type { News } from '../../port.ts'
import { createRooms, type Rooms } from './gate-occupancy.ts'

/** The gates a run under way holds; null if it holds a key, alone or besides. */
export type Holding = Map<number, readonly number[] | null>

/** What the steps of one transaction tell each other. */
export interface TickState {
  readonly now: number
  /** The node incarnation that owns new leases. */
  readonly node: number
  /** Gates at which somebody left or arrived: admission is due there. */
  readonly touched: Set<number>
  /** Lanes that received ready rows by another way than a fresh submission. */
  readonly refilled: Set<number>
  /** What is known of the gates by this transaction. */
  readonly rooms: Rooms
  /**
   * Runs under way that are known to hold gates or a dedupe key: their end has more to do. Kept over
   * ticks; a new process begins without, and a bulk that meets such a run says so.
   */
  readonly holding: Holding
  /** Whether items that ask for nothing special may be done many at a time. */
  readonly inBulk: boolean
  /** Runs that are refused, by the run they were to start after that nobody knows. */
  readonly unknown: Map<number, number>
  /** What others have to be told of. */
  readonly news: News[]
  /** The earliest timer written so far. */
  nextDueAt: number | null
}

export function startTick(
  now: number,
  node: number,
  { holding = new Map() as Holding, inBulk = false } = {},
): TickState {
  return {
    now,
    node,
    holding,
    inBulk,
    rooms: createRooms(),
    touched: new Set(),
    refilled: new Set(),
    unknown: new Map(),
    news: [],
    nextDueAt: null,
  }
}

export function noteTimer(tick: TickState, dueAt: number): void {
  if (tick.nextDueAt === null || dueAt < tick.nextDueAt) tick.nextDueAt = dueAt
}

export function ascending(numbers: Iterable<number>): number[] {
  return [...numbers].sort((a, b) => a - b)
}

/** A run's gates as its row holds them: JSON text, or null for the many that have none. */
export function parseGates(stored: string | null): readonly number[] {
  return stored === null ? [] : (JSON.parse(stored) as number[])
}
