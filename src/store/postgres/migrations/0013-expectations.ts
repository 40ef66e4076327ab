import type { Migration } from './migrate.ts'

/** Expectations on runs, and their violations. */
export const expectations: Migration = {
  version: 13,
  statements: () => [
    `CREATE TABLE expectation (
       run_id bigint PRIMARY KEY,
       look_at bigint NOT NULL,
       project_id int NOT NULL,
       job_id int NOT NULL,
       version int NOT NULL,
       terms text NOT NULL)`,
    `CREATE INDEX expectation_look ON expectation (look_at)`,
    // The key prevents reporting a violation twice.
    `CREATE TABLE lapse (
       run_id bigint NOT NULL,
       due_at bigint NOT NULL,
       at bigint NOT NULL,
       kind smallint NOT NULL,
       PRIMARY KEY (run_id, kind))`,
  ],
}
