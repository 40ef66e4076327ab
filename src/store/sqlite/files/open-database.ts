import Database from 'better-sqlite3'
import { PunctualError } from '../../../core/errors.ts'
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { markOpen, requireSound, requireWal, wasLeftOpen } from './clean-exit.ts'
import { IN_MEMORY, openWriter, sqliteVersion } from '../connection/connection.ts'
import {
  createPrivately,
  describePlace,
  freeBytesAt,
  realPath,
  refuseNetworkFileSystem,
} from '../connection/file-system.ts'
import { migrate, schemaVersion } from '../migrations/migrate.ts'
import { lockForWriting } from './single-writer.ts'

export interface OpenOptions {
  readonly path: string
  /**
   * This process is the only one: it locks the file and declares every earlier node dead. Without
   * it several nodes may share the database, as in the simulator.
   */
  readonly exclusive?: boolean
  /** `normal` may lose the last commits in a power cut, never in a crash of the process. */
  readonly durability?: 'full' | 'normal'
}

export interface OpenedDatabase {
  readonly db: Database.Database
  readonly version: string
  close(): void
}

/** Opens the one writing connection: locked, checked after a crash, and at the newest schema. */
export function openDatabase(options: OpenOptions): OpenedDatabase {
  const { exclusive = true, durability = 'full' } = options
  const isFile = options.path !== IN_MEMORY
  const locks = exclusive && isFile
  const undo: (() => void)[] = []
  let leaveWal = () => {}
  try {
    const path = isFile ? realPath(options.path) : IN_MEMORY
    if (isFile) refuseNetworkFileSystem(path)
    if (locks) {
      const lock = lockForWriting(path)
      undo.push(() => lock.release())
    }
    if (isFile) createPrivately(path)
    const hadWal = existsSync(`${path}-wal`)
    if (locks && hadWal) leaveWal = () => leaveEmptyWal(path)
    const db = openWriter(path, durability)
    undo.push(() => db.close())
    if (locks && schemaVersion(db) > 0) {
      requireWal(db, hadWal)
      if (wasLeftOpen(db) || isSmall(path)) requireSound(db)
    }
    migrate(db)
    if (locks) {
      markOpen(db, true)
      // Written to the database file itself: a write-ahead log that goes missing must not take the
      // mark along.
      db.pragma('wal_checkpoint(PASSIVE)')
    }
    const close = () => {
      const isMarked = !locks || mayMarkClosed(db)
      runBackwards(undo)
      if (!isMarked) leaveEmptyWal(path)
    }
    return { db, version: sqliteVersion(db), close }
  } catch (error) {
    runBackwards(undo)
    leaveWal()
    throw openFailure(options.path, error)
  }
}

/** This may fail on a full disk: then the next start checks the database as after a crash. */
function mayMarkClosed(db: Database.Database): boolean {
  try {
    markOpen(db, false)
    return true
  } catch {
    return false
  }
}

/**
 * Closing moved the write-ahead log into the database and deleted it. The next start must not
 * report it as missing.
 */
function leaveEmptyWal(path: string): void {
  try {
    closeSync(openSync(`${path}-wal`, 'a', 0o600))
  } catch {
    // Then the next start reports it as missing, and how to proceed.
  }
}

function openFailure(path: string, error: unknown): Error {
  if (error instanceof PunctualError) return error
  const cause = error instanceof Error ? error : new Error(String(error))
  const code = error instanceof Database.SqliteError ? error.code : ''
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) {
    const message = `${path} is damaged or not a database; restore a backup (${cause.message})`
    return new PunctualError('store_damaged', message, { cause })
  }
  if (isForLackOfRoom(code, path)) {
    const message = `the disk is full: ${describePlace(path)}`
    const hint = 'Free some space there, and start again.'
    return new PunctualError('storage_full', message, { cause, hint })
  }
  return new PunctualError('store_unavailable', `${path} cannot be opened (${cause.message})`, {
    cause,
  })
}

/** SQLite's error for a full disk depends on which of its files it tried to create or extend. */
function isForLackOfRoom(code: string, path: string): boolean {
  if (code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_SHMSIZE') return true
  const free = freeBytesAt(path)
  return /^SQLITE_(IOERR|CANTOPEN)/.test(code) && free !== null && free < LEAST_FREE_BYTES
}

/** An empty database with its log needs more than this. */
const LEAST_FREE_BYTES = 256 * 1024
/**
 * Checked at every start; larger databases only after a crash, and by the running server's
 * inspection.
 */
const SMALL_BYTES = 32 * 1024 * 1024

function isSmall(path: string): boolean {
  return path !== IN_MEMORY && statSync(path).size <= SMALL_BYTES
}

function runBackwards(steps: readonly (() => void)[]): void {
  for (const step of steps.toReversed()) step()
}
