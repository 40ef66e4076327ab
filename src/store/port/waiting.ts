/** What a run that has not started waits for, for people who ask. */
export interface WaitQueries {
  /** Null for a run that does not wait. `most` bounds what is counted. */
  waitOf(input: { runId: number; most: number }): Promise<WaitRecord | null>
}

export interface WaitRecord {
  /** Until when it is scheduled. */
  readonly timerAt: number | null
  /** Runs with the same needs that stand before it, if it is ready; at most `most`. */
  readonly ahead: number | null
  /** The gate at which it was last seen to wait, if it is blocked. */
  readonly gate: GateRecord | null
  /** Some of the runs that have to end before, oldest first. */
  readonly after: readonly number[]
}

export interface GateRecord {
  readonly name: string
  readonly capacity: number
  readonly holders: number
  /** Some of the runs that hold it, oldest first. */
  readonly heldBy: readonly number[]
}
