import Database from 'better-sqlite3'
import { PunctualError } from '../../../core/errors.ts'

export const IN_MEMORY = ':memory:'
/** The WAL-reset bug of earlier versions could corrupt a database under concurrent checkpoints. */
const OLDEST_SQLITE = [3, 51, 3] as const
const WRITER_CACHE_KIB = 64 * 1024
const READER_CACHE_KIB = 8 * 1024
const BUSY_MS = 5_000

export function openWriter(path: string, durability: 'full' | 'normal'): Database.Database {
  const db = new Database(path, { timeout: BUSY_MS })
  requireVersion(sqliteVersion(db))
  if (path !== IN_MEMORY) requireWal(db)
  db.pragma(`synchronous = ${durability}`)
  // The writer runs checkpoints itself, between ticks: see checkpoint.ts.
  db.pragma('wal_autocheckpoint = 0')
  db.pragma('foreign_keys = OFF')
  db.pragma('temp_store = MEMORY')
  // An upper bound: memory is only used as pages are read.
  db.pragma(`cache_size = -${WRITER_CACHE_KIB}`)
  return db
}

export function openReader(path: string): Database.Database {
  const db = new Database(path, { readonly: true, timeout: BUSY_MS })
  db.pragma('query_only = ON')
  db.pragma('temp_store = MEMORY')
  db.pragma(`cache_size = -${READER_CACHE_KIB}`)
  return db
}

function requireWal(db: Database.Database): void {
  const mode = db.pragma('journal_mode = WAL', { simple: true })
  if (mode === 'wal') return
  throw new PunctualError(
    'store_unsupported',
    `${db.name} cannot keep a write-ahead log (${String(mode)})`,
  )
}

export function sqliteVersion(db: Database.Database): string {
  return db.prepare<[], string>('SELECT sqlite_version()').pluck().get() ?? '0'
}

export function requireVersion(version: string): void {
  const parts = version.split('.').map(Number)
  for (const [i, oldest] of OLDEST_SQLITE.entries()) {
    const part = parts[i] ?? 0
    if (part > oldest) return
    if (part < oldest) {
      throw new PunctualError(
        'store_unsupported',
        `SQLite ${version} is too old; ${OLDEST_SQLITE.join('.')} or newer is needed`,
      )
    }
  }
}
