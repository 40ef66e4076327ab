/** What the steps of one transaction tell each other. */
export interface TickState {
  readonly now: number
  /** The node incarnation that owns new leases. */
  readonly node: number
  /** Gates at which somebody left or arrived: admission is due there. */
  readonly touched: Set<number>
  /** Lanes that received ready rows by another way than a fresh submission. */
  readonly refilled: Set<number>
  /** The earliest timer written so far. */
  nextDueAt: number | null
}

export function startTick(now: number, node: number): TickState {
  return { now, node, touched: new Set(), refilled: new Set(), nextDueAt: null }
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
