import Database from 'better-sqlite3'
import { PunctualError } from '../../../core/errors.ts'
import { createPrivately } from '../connection/file-system.ts'

export interface WriterLock {
  release(): void
}

/**
 * Keeps a second process away from the database. The lock is an exclusive transaction, never ended,
 * on a separate database: the kernel drops it with the process, so `kill -9` leaves nothing to
 * clean up, and unlike a process id in a file it cannot name an unrelated process.
 */
export function lockForWriting(path: string): WriterLock {
  createPrivately(`${path}.lock`)
  const db = new Database(`${path}.lock`, { timeout: 0 })
  try {
    // Nothing is ever written to it; without this setting it would have a journal file.
    db.pragma('journal_mode = MEMORY')
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) {
      throw new PunctualError('store_in_use', `${path} is open in another process`, {
        cause: error,
      })
    }
    throw error
  }
  return { release: () => db.close() }
}
