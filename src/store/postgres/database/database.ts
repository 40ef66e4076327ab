import { StoreError } from '../../port.ts'
import type { Connection } from '../connection/connection.ts'
import type { StatementClock } from '../connection/statement.ts'
import type { PartitionRegistry } from '../partitions/partition-registry.ts'

/** State shared by the statement modules. */
export interface Database {
  /** Two, so that one works while the other waits for the disk; a third gains nothing. */
  readonly hot: readonly Connection[]
  /** Sweeps, nodes and names: short statements that must never wait behind a long read. */
  readonly duty: Connection
  /** List queries, and reads of output. A page may take long, so nothing that workers wait for uses these connections. */
  readonly lists: readonly Connection[]
  /** Reads for display, and maintenance. */
  readonly reading: Connection
  readonly weeks: PartitionRegistry
  /** The time for statements; see `StatementClock`. */
  readonly now: () => StatementClock
  /** Only in tests: replaces the database's clock. */
  readonly testWall: () => number | null
  readonly onWarn: (message: string) => void
}

/** The hot connection with the shortest queue. */
export function pickHot({ hot }: Database): Connection {
  return pickFree(hot)
}

/** The list connection with the shortest queue. */
export function pickLists({ lists }: Database): Connection {
  return pickFree(lists)
}

function pickFree(connections: readonly Connection[]): Connection {
  const up = connections.filter((connection) => connection.isUp)
  const [first] = up.toSorted((a, b) => a.load - b.load)
  if (first) return first
  const [any] = connections
  // A connection that is down fails with the reason.
  if (any) return any
  throw new StoreError('unavailable', 'the store has no connections')
}
