import type { Database } from 'better-sqlite3'
import { StoreError } from '../../port.ts'
import { NotInBulk } from './bulk.ts'
import { FatalStoreError, isFatal, type Stage, translate } from './store-errors.ts'

export interface Transactions {
  /** Runs `work` in BEGIN IMMEDIATE … COMMIT: all of it happened durably, or none of it. */
  write<T>(work: () => T): T
  /** As `write`; if `inBulk` turns out not to go, none of it happened, and `oneByOne` runs instead. */
  writeInBulk<T>(inBulk: () => T, oneByOne: () => T): T
  /** Runs `work` as it is; it only reads. */
  read<T>(work: () => T): T
  readonly failed: boolean
}

/**
 * The one way to the database. A disk that failed once is never asked again: the kernel marks
 * unwritten pages clean after a failed fsync, so a second one would report a success that is none.
 */
export function createTransactions(
  db: Database,
  onFatal: (error: FatalStoreError) => void,
): Transactions {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  let fatal: FatalStoreError | undefined

  const guard = <T>(run: (reach: (stage: Stage) => void) => T): T => {
    if (fatal) {
      throw new FatalStoreError('unavailable', `the store stopped: ${fatal.message}`, {
        cause: fatal,
      })
    }
    if (!db.open) throw new StoreError('unavailable', 'the store is closed')
    let stage: Stage = 'work'
    try {
      return run((reached) => {
        stage = reached
      })
    } catch (error) {
      const failure = translate(error, stage)
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
      return result
    })

  return {
    write,
    writeInBulk(inBulk, oneByOne) {
      try {
        return write(inBulk)
      } catch (error) {
        if (error instanceof NotInBulk) return write(oneByOne)
        throw error
      }
    },
    read: (work) => guard(work),
    get failed() {
      return fatal !== undefined
    },
  }
}
