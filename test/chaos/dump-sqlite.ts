import Database from 'better-sqlite3'
import { toDump, type RunRow } from './dump.ts'
import type { Dump } from './history.ts'

/**
 * Adds triggers to the database that record every end of a run and every later change to one. The schema must
 * exist and no process may have the file open.
 */
export function recordEndsInSqlite(path: string): void {
  const note = `INSERT INTO chaos_end (run_id, state) VALUES (NEW.id, NEW.status);`
  withDatabase(path, (db) =>
    db.exec(`
      CREATE TABLE chaos_end (
        seq INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, state INTEGER NOT NULL);
      CREATE TRIGGER chaos_new AFTER INSERT ON run WHEN NEW.status >= 4 BEGIN ${note} END;
      CREATE TRIGGER chaos_change AFTER UPDATE ON run
        WHEN NEW.status >= 4 OR OLD.status >= 4 BEGIN ${note} END;`),
  )
}

export function unfinishedInSqlite(path: string): number {
  const count = `SELECT count(*) FROM run WHERE status < 4`
  return withDatabase(path, (db) => db.prepare<[], number>(count).pluck().get() ?? 0, true)
}

export function dumpSqlite(path: string): Dump {
  return withDatabase(path, (db) => {
    const count = (from: string) =>
      db.prepare<[], number>(`SELECT count(*) FROM ${from}`).pluck().get() ?? 0
    return toDump({
      runs: db
        .prepare<[], RunRow>(
          `SELECT id, status AS state, fence, cause, input, result FROM run ORDER BY id`,
        )
        .all(),
      ends: db
        .prepare<[], { id: number; state: number }>(
          `SELECT run_id AS id, state FROM chaos_end ORDER BY seq`,
        )
        .all(),
      attempts: db
        .prepare<[], { id: number; fence: number; cause: string }>(
          `SELECT run_id AS id, fence, cause FROM attempt`,
        )
        .all(),
      leftovers: {
        'the gates': count('gate WHERE held <> 0'),
        'the ready line': count('run WHERE status = 0'),
        'the leases': count('run WHERE status = 1'),
        'the timers': count('run WHERE status = 2'),
        'the blocked': count('run WHERE status = 3'),
      },
    })
  })
}

function withDatabase<T>(path: string, use: (db: Database.Database) => T, readonly = false): T {
  const db = new Database(path, { fileMustExist: true, readonly })
  try {
    return use(db)
  } finally {
    db.close()
  }
}
