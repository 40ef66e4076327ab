/** What a run that has not started waits for, for display. */
export interface WaitQueries {
  /** Null for a run that does not wait. `maxCount` bounds what is counted. */
  waitOf(input: { runId: number; maxCount: number }): Promise<WaitRecord | null>
}

export interface WaitRecord {
  /** Until when it is scheduled. */
  readonly timerAt: number | null
  /** Runs with the same needs that are ahead of it, if it is ready; at most `maxCount`. */
  readonly ahead: number | null
  /** The gate it last waited at, if it is blocked. */
  readonly gate: GateRecord | null
  /** Some of the runs that have to end first, oldest first. */
  readonly after: readonly number[]
}

export interface GateRecord {
  readonly name: string
  readonly capacity: number
  readonly holders: number
  /** Some of the runs that hold it, oldest first. */
  readonly heldBy: readonly number[]
}
