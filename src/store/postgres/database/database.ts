import { StoreError } from '../../port.ts'
import type { Connection } from '../connection/connection.ts'
import type { WeekBook } from '../partitions/partition-registry.ts'

/** What the statement groups share. */
export interface Database {
  /** Two, so that one works while the other waits for the disk; a third gains nothing. */
  readonly hot: readonly Connection[]
  /** Sweeps, nodes and names: short work that must never wait behind a long read. */
  readonly duty: Connection
  /** Reading for people, and upkeep. */
  readonly reading: Connection
  readonly weeks: WeekBook
  /** Null leaves the time to the database; tests turn their own clock. */
  readonly now: () => number | null
  readonly onWarn: (message: string) => void
}

/** The hot connection that will be free first. */
export function pickHot({ hot }: Database): Connection {
  const up = hot.filter((connection) => connection.isUp)
  const [first] = up.toSorted((a, b) => a.load - b.load)
  if (first) return first
  const [any] = hot
  // Asking a connection that is down says why it is down.
  if (any) return any
  throw new StoreError('unavailable', 'the store has no connections')
}
