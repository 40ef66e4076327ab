import type { Migration } from './migrate.ts'

/**
 * Backfills: past times that are run after the fact. The original occurrence of a time stays
 * recorded.
 */
export const backfills: Migration = {
  version: 12,
  statements: () => [
    `CREATE TABLE backfill (
       id bigint PRIMARY KEY,
       schedule_id bigint NOT NULL,
       place bigint,
       look_at bigint NOT NULL,
       created_at bigint NOT NULL,
       finished_at bigint,
       project_id int NOT NULL,
       version int NOT NULL,
       made int NOT NULL,
       passed int NOT NULL,
       created_by int,
       state smallint NOT NULL,
       open_runs bigint[],
       error text,
       spec text NOT NULL)`,
    `CREATE INDEX backfill_open ON backfill (look_at) WHERE state = 0`,
    `CREATE INDEX backfill_by_project ON backfill (project_id, id)`,
    `CREATE INDEX backfill_finished ON backfill (finished_at) WHERE finished_at IS NOT NULL`,
    `CREATE TABLE backfill_time (
       schedule_id bigint NOT NULL,
       nominal_at bigint NOT NULL,
       run_id bigint NOT NULL,
       backfill_id bigint NOT NULL,
       PRIMARY KEY (schedule_id, nominal_at, run_id))`,
    `CREATE INDEX backfill_time_by_run ON backfill_time (run_id)`,
  ],
}
