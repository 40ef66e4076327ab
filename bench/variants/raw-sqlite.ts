import Sqlite from 'better-sqlite3'
import { measureAndExit, readVariantSettings, verify } from '../harness/variant-process.ts'

export interface RawSqliteSettings {
  readonly path: string
  readonly seconds: number
  readonly rows: number
}

/** Measures the ceiling: durable inserts into SQLite without a scheduler, one fsync per transaction. */
measureAndExit(async () => {
  const { path, seconds, rows } = readVariantSettings() as RawSqliteSettings
  const database = new Sqlite(path)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.exec(
    'CREATE TABLE ceiling (id INTEGER PRIMARY KEY, created_at INTEGER NOT NULL, input TEXT) STRICT',
  )
  const insert = database.prepare('INSERT INTO ceiling (id, created_at, input) VALUES (?, ?, ?)')
  let inserted = 0
  const batch = database.transaction(() => {
    const now = Date.now()
    for (let i = 0; i < rows; i++) insert.run(++inserted, now, '{}')
  })
  const startedAt = performance.now()
  const until = startedAt + seconds * 1000
  while (performance.now() < until) batch.immediate()
  const elapsed = (performance.now() - startedAt) / 1000
  const counted = database.prepare('SELECT count(*) FROM ceiling').pluck().get() as number
  verify('rows inserted', inserted, counted)
  database.close()
  return { runsPerSecond: inserted / elapsed }
})
