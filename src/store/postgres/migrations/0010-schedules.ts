import type { Migration } from './migrate.ts'

/** Rows that every firing rewrites: they are vacuumed early, like the other hot tables. */
const HOT = `WITH (
  fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off)`

/** Schedules, and the outcome of each of their times. */
export const schedules: Migration = {
  version: 10,
  statements: () => [
    `CREATE TABLE schedule (
       id bigint PRIMARY KEY,
       skip_nominal_at bigint,
       paused_at bigint,
       paused_until bigint,
       resumed_at bigint,
       created_at bigint NOT NULL,
       updated_at bigint NOT NULL,
       deleted_at bigint,
       project_id int NOT NULL,
       job_id int NOT NULL,
       created_by int,
       updated_by int,
       paused_by_job boolean NOT NULL DEFAULT false,
       name text NOT NULL,
       paused_reason text,
       error text,
       spec text NOT NULL)`,
    `CREATE UNIQUE INDEX schedule_name ON schedule (job_id, name) WHERE deleted_at IS NULL`,
    `CREATE INDEX schedule_by_project ON schedule (project_id, id) WHERE deleted_at IS NULL`,
    `CREATE INDEX schedule_deleted ON schedule (deleted_at) WHERE deleted_at IS NOT NULL`,

    // What firing reads and writes, separate from the settings: a firing writes few bytes and two
    // indexes. Every change of a schedule locks this row first.
    `CREATE TABLE schedule_next (
       schedule_id bigint PRIMARY KEY,
       nominal_at bigint,
       look_at bigint,
       last_nominal_at bigint,
       version int NOT NULL,
       open_runs bigint[]) ${HOT}`,
    // Paused, exhausted and deleted schedules are not in this index, so no scan has to skip them.
    `CREATE INDEX schedule_look ON schedule_next (look_at, (schedule_id + 0))
      WHERE look_at IS NOT NULL`,

    // The key prevents recording a time twice. The id is that of the run, or of the moment of
    // writing.
    `CREATE TABLE occurrence (
       schedule_id bigint NOT NULL,
       nominal_at bigint NOT NULL,
       until_at bigint NOT NULL,
       id bigint NOT NULL,
       other_run_id bigint,
       at bigint NOT NULL,
       project_id int NOT NULL,
       version int NOT NULL,
       count int,
       outcome smallint NOT NULL,
       reason text,
       detail text,
       PRIMARY KEY (schedule_id, nominal_at))`,
    `CREATE INDEX occurrence_by_id ON occurrence (id)`,
    `CREATE INDEX occurrence_unusual ON occurrence (project_id, id) WHERE outcome > 0`,
  ],
}
