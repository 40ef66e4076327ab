import type { Database } from 'better-sqlite3'
import { StoreError } from '../../port.ts'
import { BulkMismatch } from './bulk.ts'
import { FatalStoreError, isFatal, type Stage, translate } from './store-errors.ts'
import { describePlace } from './file-system.ts'

export interface Transactions {
  /** Runs `work` in BEGIN IMMEDIATE … COMMIT: all of it becomes durable, or none of it. */
  write<T>(work: () => T): T
  /**
   * Like `write`; on a `BulkMismatch` the transaction is rolled back, and `oneByOne` runs instead.
   */
  writeInBulk<T>(inBulk: () => T, oneByOne: () => T): T
  /** Runs `work` without a transaction; it only reads. */
  read<T>(work: () => T): T
  readonly failed: boolean
}

/**
 * The only access to the database. A disk that failed once is never used again: the kernel marks
 * unwritten pages clean after a failed fsync, so a second one would report a false success.
 */
export function createTransactions(
  db: Database,
  onFatal: (error: FatalStoreError) => void,
  /** Throws if the commit is not safe after all; called before any commit is answered. */
  confirm: () => void = () => {},
): Transactions {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  let fatal: FatalStoreError | undefined

  const guard = <T>(run: (reach: (stage: Stage) => void) => T): T => {
    if (fatal) {
      throw new FatalStoreError('unavailable', `the store stopped: ${fatal.message}`, {
        cause: fatal,
        trouble: fatal.trouble,
      })
    }
    if (!db.open) throw new StoreError('unavailable', 'the store is closed')
    let stage: Stage = 'work'
    try {
      return run((reached) => {
        stage = reached
      })
    } catch (error) {
      const failure = translate(error, stage, () => describePlace(db.name))
      if (isFatal(failure)) {
        fatal = failure
        onFatal(failure)
      } else if (db.inTransaction) rollback.run()
      throw failure
    }
  }

  const write = <T>(work: () => T): T =>
    guard((reach) => {
      begin.run()
      const result = work()
      reach('commit')
      commit.run()
      confirm()
      return result
    })

  return {
    write,
    writeInBulk(inBulk, oneByOne) {
      try {
        return write(inBulk)
      } catch (error) {
        if (error instanceof BulkMismatch) return write(oneByOne)
        throw error
      }
    },
    read: (work) => guard(work),
    get failed() {
      return fatal !== undefined
    },
  }
}
