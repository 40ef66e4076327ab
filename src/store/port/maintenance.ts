export interface MaintenanceStore {
  /** Answers quickly when the store works; fails with a `StoreError` when it does not. */
  ping(): Promise<void>
  /** Writes a few bytes durably, and fails as any other write would now. */
  probe(): Promise<void>
  /**
   * Looks for damage in a bounded part of the data, and continues from there the next time. Fails
   * with a `StoreError` whose trouble is `damaged`.
   */
  inspect(): Promise<void>
  /** Free bytes where the data is; null where only the database server knows. */
  freeBytes(): Promise<number | null>
  /**
   * Deletes runs that ended before `endedBefore`, in bounded batches. Live runs stay, and so do the
   * steps of workflows that have not ended.
   */
  prune(input: { endedBefore: number; limit: number }): Promise<{ more: boolean }>
  /**
   * Maintenance for the hours ahead: partitions, checkpoints, expired keys, old node rows. Without
   * `mayDelete` nothing is deleted because of its age: the clock is in doubt. `isClockOff`: the
   * clock is known to be off, and no partitions are created for the weeks it is ahead of.
   */
  maintain(input: { mayDelete: boolean; isClockOff?: boolean }): Promise<void>
}
