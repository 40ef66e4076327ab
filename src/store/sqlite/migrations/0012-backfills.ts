import type { Migration } from './migrate.ts'

/**
 * Backfills: past times that are run after the fact. The original occurrence of a time stays
 * recorded.
 */
export const backfills: Migration = {
  version: 12,
  statements: [
    `CREATE TABLE backfill (
       id INTEGER PRIMARY KEY,
       project_id INTEGER NOT NULL,
       schedule_id INTEGER NOT NULL,
       version INTEGER NOT NULL,
       state INTEGER NOT NULL,
       place INTEGER,
       look_at INTEGER NOT NULL,
       made INTEGER NOT NULL,
       passed INTEGER NOT NULL,
       created_at INTEGER NOT NULL,
       created_by INTEGER,
       finished_at INTEGER,
       open_runs TEXT,
       error TEXT,
       spec TEXT NOT NULL
     ) STRICT`,
    `CREATE INDEX backfill_open ON backfill (look_at) WHERE state = 0`,
    `CREATE INDEX backfill_by_project ON backfill (project_id)`,
    `CREATE INDEX backfill_finished ON backfill (finished_at) WHERE finished_at IS NOT NULL`,
    `CREATE TABLE backfill_time (
       schedule_id INTEGER NOT NULL,
       nominal_at INTEGER NOT NULL,
       run_id INTEGER NOT NULL,
       backfill_id INTEGER NOT NULL,
       PRIMARY KEY (schedule_id, nominal_at, run_id)
     ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX backfill_time_by_run ON backfill_time (run_id)`,
  ],
}
