import type { Migration } from './migrate.ts'

/**
 * Occurrences of times that had not come: a clock was ahead and has been set back. They are kept
 * apart, so that the time may get another outcome when it comes.
 */
export const voidOccurrences: Migration = {
  version: 20,
  statements: [
    `CREATE TABLE void_occurrence (
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
       voided_at INTEGER NOT NULL,
       PRIMARY KEY (schedule_id, nominal_at, id)
     ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX void_occurrence_by_id ON void_occurrence (id)`,
    `CREATE INDEX void_occurrence_voided ON void_occurrence (voided_at)`,
  ],
}
