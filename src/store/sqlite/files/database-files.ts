import { statSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { markOpen } from './clean-exit.ts'
import { FatalStoreError } from '../connection/store-errors.ts'

/**
 * Identifies the file a path leads to: a deleted file that is still open keeps its inode number.
 */
interface FileId {
  readonly dev: number
  readonly ino: number
}

/**
 * The database and its write-ahead log, as the open connection has them. SQLite does not notice
 * when they are deleted or replaced: it continues to write to files that disappear with the
 * process.
 */
export interface DatabaseFiles {
  /**
   * Throws a fatal error when the paths no longer lead to the files that were opened. Called after
   * each commit and before its answer, so that no write is acknowledged that only a deleted file
   * holds.
   */
  requireOurs(): void
  /** Throws if closing would delete the write-ahead log of another database with the same name. */
  refuseToCloseOthers(): void
}

export function watchDatabaseFiles(db: Database): DatabaseFiles {
  const wal = `${db.name}-wal`
  const opened = { db: idOf(db.name), wal: idOf(wal) }

  const isOther = (id: FileId | undefined, path: string) => {
    const now = idOf(path)
    return now !== undefined && !isSame(id, now)
  }

  return {
    refuseToCloseOthers() {
      if (!isOther(opened.db, db.name) && !isOther(opened.wal, wal)) return
      const message = `${db.name} was replaced by another file while in use`
      throw new FatalStoreError('unavailable', message, { trouble: 'replaced' })
    },

    requireOurs() {
      const dbNow = idOf(db.name)
      const walNow = idOf(wal)
      const isOurDb = isSame(opened.db, dbNow)
      if (isOurDb && isSame(opened.wal, walNow)) return
      const path = isOurDb ? wal : db.name
      const now = isOurDb ? walNow : dbNow
      const what = now === undefined ? 'was deleted' : 'was replaced by another file'
      const isSaved = isOurDb && walNow === undefined && moveWalIntoDatabase(db)
      const rest = isSaved
        ? 'what it held was moved into the database, and a restart loses nothing'
        : `process ${process.pid} still has it open`
      throw new FatalStoreError('unknown', `${path} ${what} while in use; ${rest}`, {
        trouble: 'replaced',
      })
    },
  }
}

/**
 * The database file is still ours, so the content of the deleted log can be copied into it. A log
 * that was replaced is left alone: another process may be using it.
 */
function moveWalIntoDatabase(db: Database): boolean {
  try {
    markOpen(db, false)
    const [state] = db.pragma('wal_checkpoint(FULL)') as {
      busy: number
      log: number
      checkpointed: number
    }[]
    return state?.busy === 0 && state.log === state.checkpointed
  } catch {
    return false
  }
}

/** A path that cannot be followed any more may lead to another file than the open one. */
function idOf(path: string): FileId | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    const message = `${path} can no longer be reached (${(error as Error).message})`
    throw new FatalStoreError('unknown', message, { cause: error, trouble: 'replaced' })
  }
}

function isSame(one: FileId | undefined, other: FileId | undefined): boolean {
  return one?.ino === other?.ino && one?.dev === other?.dev
}
