import type { Database } from 'better-sqlite3'
import { PunctualError } from '../../../core/errors.ts'
import { inspectDatabase, type InspectOptions } from './inspect-database.ts'
import { mono } from '../connection/system-clock.ts'

const SET_FLAG = `
  INSERT INTO meta (key, value) VALUES ('open', ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`

/** Whether the last process that opened this database exited without closing it. */
export function wasLeftOpen(db: Database): boolean {
  return db.prepare<[], number>(`SELECT value FROM meta WHERE key = 'open'`).pluck().get() === 1
}

export function markOpen(db: Database, open: boolean): void {
  db.prepare(SET_FLAG).run(open ? 1 : 0)
}

/** A quarter of the time a restart may take; the periodic inspections check the rest. */
const WHOLE = { wholeBytes: 512 * 1024 * 1024, budgetMs: 750, mono }

/** Refuses a damaged database before it can serve a wrong answer or be damaged further. */
export function requireSound(db: Database, options: InspectOptions = WHOLE): void {
  const { finding } = inspectDatabase(db, null, options)
  if (finding === null) return
  throw new PunctualError(
    'store_damaged',
    `${db.name} is damaged and was not opened; restore a backup (${finding})`,
  )
}

/**
 * A process that exits without closing the database leaves its write-ahead log behind. If the log
 * is missing, the last writes are lost, and the database file alone does not show it.
 */
export function requireWal(db: Database, hadWal: boolean): void {
  if (hadWal || !wasLeftOpen(db)) return
  throw new PunctualError(
    'store_damaged',
    `${db.name}-wal is missing, and with it what was written last`,
    { hint: `Restore a backup; or accept the loss with: touch '${db.name}-wal'` },
  )
}
