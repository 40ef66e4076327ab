import type { Migration } from './migrate.ts'

/** Expectations on runs, and their violations. */
export const expectations: Migration = {
  version: 13,
  statements: [
    `CREATE TABLE expectation (
       run_id INTEGER PRIMARY KEY,
       project_id INTEGER NOT NULL,
       job_id INTEGER NOT NULL,
       version INTEGER NOT NULL,
       look_at INTEGER NOT NULL,
       terms TEXT NOT NULL
     ) STRICT`,
    `CREATE INDEX expectation_look ON expectation (look_at)`,
    // The key prevents reporting a violation twice.
    `CREATE TABLE lapse (
       run_id INTEGER NOT NULL,
       kind INTEGER NOT NULL,
       due_at INTEGER NOT NULL,
       at INTEGER NOT NULL,
       PRIMARY KEY (run_id, kind)
     ) STRICT, WITHOUT ROWID`,
  ],
}
