import type { Migration } from './migrate.ts'

/** Schedules, and the outcome of each of their times. */
export const schedules: Migration = {
  version: 10,
  statements: [
    // Long texts come last, so that reading a number does not have to skip them.
    `CREATE TABLE schedule (
       id INTEGER PRIMARY KEY,
       project_id INTEGER NOT NULL,
       job_id INTEGER NOT NULL,
       name TEXT NOT NULL,
       version INTEGER NOT NULL,
       next_nominal_at INTEGER,
       look_at INTEGER,
       last_nominal_at INTEGER,
       skip_nominal_at INTEGER,
       paused_at INTEGER,
       paused_until INTEGER,
       paused_by_job INTEGER NOT NULL DEFAULT 0,
       resumed_at INTEGER,
       created_at INTEGER NOT NULL,
       created_by INTEGER,
       updated_at INTEGER NOT NULL,
       updated_by INTEGER,
       deleted_at INTEGER,
       open_runs TEXT,
       paused_reason TEXT,
       error TEXT,
       spec TEXT NOT NULL
     ) STRICT`,
    // Paused, exhausted and deleted schedules are not in this index, so no scan has to skip them.
    `CREATE INDEX schedule_look ON schedule (look_at) WHERE look_at IS NOT NULL`,
    `CREATE UNIQUE INDEX schedule_name ON schedule (job_id, name) WHERE deleted_at IS NULL`,
    `CREATE INDEX schedule_by_project ON schedule (project_id) WHERE deleted_at IS NULL`,
    `CREATE INDEX schedule_by_job ON schedule (job_id) WHERE deleted_at IS NULL`,
    `CREATE INDEX schedule_deleted ON schedule (deleted_at) WHERE deleted_at IS NOT NULL`,

    // The key prevents recording a time twice. The id is that of the run, or of the moment of
    // writing.
    `CREATE TABLE occurrence (
       schedule_id INTEGER NOT NULL,
       nominal_at INTEGER NOT NULL,
       until_at INTEGER NOT NULL,
       id INTEGER NOT NULL,
       project_id INTEGER NOT NULL,
       version INTEGER NOT NULL,
       count INTEGER,
       outcome INTEGER NOT NULL,
       other_run_id INTEGER,
       at INTEGER NOT NULL,
       reason TEXT,
       detail TEXT,
       PRIMARY KEY (schedule_id, nominal_at)
     ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX occurrence_by_id ON occurrence (id)`,
    `CREATE INDEX occurrence_unusual ON occurrence (project_id, id) WHERE outcome > 0`,
  ],
}
