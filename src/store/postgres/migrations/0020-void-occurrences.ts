import type { Migration } from './migrate.ts'

/**
 * Occurrences of times that had not come: a clock was ahead and has been set back. They are kept
 * apart, so that the time may get another outcome when it comes.
 */
export const voidOccurrences: Migration = {
  version: 20,
  statements: () => [
    `CREATE TABLE void_occurrence (
       schedule_id bigint NOT NULL,
       nominal_at bigint NOT NULL,
       until_at bigint NOT NULL,
       id bigint NOT NULL,
       other_run_id bigint,
       at bigint NOT NULL,
       voided_at bigint NOT NULL,
       project_id int NOT NULL,
       version int NOT NULL,
       count int,
       outcome smallint NOT NULL,
       reason text,
       detail text,
       PRIMARY KEY (schedule_id, nominal_at, id))`,
    `CREATE INDEX void_occurrence_by_id ON void_occurrence (id)`,
    `CREATE INDEX void_occurrence_voided ON void_occurrence (voided_at)`,
  ],
}
