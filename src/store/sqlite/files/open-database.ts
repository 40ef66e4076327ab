import Database from 'better-sqlite3'
import { PunctualError } from '../../../core/errors.ts'
import { markOpen, requireSound, wasLeftOpen } from './clean-exit.ts'
import { IN_MEMORY, openWriter, sqliteVersion } from '../connection/connection.ts'
import { realPath, refuseNetworkFileSystem } from '../connection/file-system.ts'
import { migrate, schemaVersion } from '../migrations/migrate.ts'
import { lockForWriting } from './single-writer.ts'

export interface OpenOptions {
  readonly path: string
  /**
   * This process is the only one: it locks the file and takes every earlier node for dead. Without
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
  try {
    const path = isFile ? realPath(options.path) : IN_MEMORY
    if (isFile) refuseNetworkFileSystem(path)
    if (locks) {
      const lock = lockForWriting(path)
      undo.push(() => lock.release())
    }
    const db = openWriter(path, durability)
    undo.push(() => db.close())
    if (locks && schemaVersion(db) > 0 && wasLeftOpen(db)) requireSound(db)
    migrate(db)
    if (locks) markOpen(db, true)
    const close = () => {
      if (locks) markOpen(db, false)
      runBackwards(undo)
    }
    return { db, version: sqliteVersion(db), close }
  } catch (error) {
    runBackwards(undo)
    throw openFailure(options.path, error)
  }
}

function openFailure(path: string, error: unknown): Error {
  if (error instanceof PunctualError) return error
  const cause = error instanceof Error ? error : new Error(String(error))
  const damaged =
    error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)
  const message = damaged
    ? `${path} is damaged or not a database; restore a backup (${cause.message})`
    : `${path} cannot be opened (${cause.message})`
  return new PunctualError('store_unavailable', message, { cause })
}

function runBackwards(steps: readonly (() => void)[]): void {
  for (const step of steps.toReversed()) step()
}
