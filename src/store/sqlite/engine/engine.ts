import type { Database } from 'better-sqlite3'
import { statementTime } from '../../../core/trusted-clock.ts'
import { createCheckpoints } from '../files/checkpoint.ts'
import { IN_MEMORY } from '../connection/connection.ts'
import { watchDatabaseFiles } from '../files/database-files.ts'
import type { FatalStoreError } from '../connection/store-errors.ts'
import { openDatabase, type OpenOptions } from '../files/open-database.ts'
import { systemNow } from '../connection/system-clock.ts'
import { createTransactions } from '../connection/transaction.ts'
import { ignoringErrors, prepareOperations } from './prepare-operations.ts'
import type { Operations } from './engine-operations.ts'

export interface EngineOptions extends OpenOptions {
  /** Wall time, for rows and timers. */
  readonly now?: () => number
  /** The disk failed; the store answers no more and the process should exit. Called once. */
  readonly onFatal?: (error: FatalStoreError) => void
}

/** The store itself, answering synchronously in the calling thread. */
export interface SqliteEngine {
  readonly operations: Operations
  /** `SQLite 3.53.4` */
  readonly version: string
  /**
   * The underlying connection, for the simulator and for tests that read or insert rows directly.
   */
  readonly raw: Database
  /** The disk failed: see `onFatal`. */
  readonly failed: boolean
  /** The time the node expects the clock to show; see `NodeStore.expectClock`. */
  expectClock(expected: () => number | null): void
  /** Work that can wait until an answer was sent. Never throws. */
  settle(): void
  close(): void
}

export function openEngine(options: EngineOptions): SqliteEngine {
  const { path, exclusive = true, now: wall = systemNow, onFatal = () => {} } = options
  const { db, version, close } = openDatabase({ ...options, exclusive })
  const files = path === IN_MEMORY ? undefined : watchDatabaseFiles(db)
  const transactions = createTransactions(db, onFatal, files?.requireOurs)
  const checkpoints = path === IN_MEMORY ? undefined : createCheckpoints(db)
  let closed = false
  let expected: (() => number | null) | null = null
  const now = () => statementTime(wall(), expected?.() ?? null)
  return {
    operations: prepareOperations(db, { transactions, checkpoints, exclusive, now, wall }),
    expectClock(given) {
      expected = given
    },
    version: `SQLite ${version}`,
    raw: db,
    get failed() {
      return transactions.failed
    },
    settle() {
      if (checkpoints && !transactions.failed)
        ignoringErrors(transactions, () => checkpoints.whenDue())
    },
    close() {
      if (closed) return
      closed = true
      // Closing would run a checkpoint and so one more fsync: leave a failed disk to the next
      // start. It would also delete the write-ahead log by its name, which may be another file by
      // now.
      if (transactions.failed) return
      transactions.read(() => files?.refuseToCloseOthers())
      close()
    },
  }
}
