export interface Upkeep {
  /** Answers quickly when the store works; fails with a `StoreError` when it does not. */
  ping(): Promise<void>
  /**
   * Deletes runs that ended before `endedBefore`, a bounded bite at a time. Live runs stay, and so do
   * the steps of flows that have not ended.
   */
  prune(input: { endedBefore: number; limit: number }): Promise<{ more: boolean }>
  /** Housekeeping for the hours ahead: partitions, checkpoints, expired keys, old node rows. */
  maintain(): Promise<void>
}
