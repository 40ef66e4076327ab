import type { Database } from 'better-sqlite3'
import { PunctualError } from '../../../core/errors.ts'

const SET_FLAG = `
  INSERT INTO meta (key, value) VALUES ('open', ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`

/** Whether the last process that had this database open went away without closing it. */
export function wasLeftOpen(db: Database): boolean {
  return db.prepare<[], number>(`SELECT value FROM meta WHERE key = 'open'`).pluck().get() === 1
}

export function markOpen(db: Database, open: boolean): void {
  db.prepare(SET_FLAG).run(open ? 1 : 0)
}

/** A damaged database is refused before it can serve a wrong answer or be damaged further. */
export function requireSound(db: Database): void {
  const [finding] = db.prepare<[], string>('PRAGMA quick_check(1)').pluck().all()
  if (finding === 'ok') return
  throw new PunctualError(
    'store_unavailable',
    `${db.name} is damaged and was not opened; restore a backup (${finding ?? 'no finding'})`,
  )
}
