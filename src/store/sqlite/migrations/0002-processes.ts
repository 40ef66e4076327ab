import type { Migration } from './migrate.ts'

/** Runs that start processes, the facts about those processes, and job definitions. */
export const processes: Migration = {
  version: 2,
  statements: [
    `ALTER TABLE run ADD COLUMN version INTEGER`,
    `ALTER TABLE run ADD COLUMN created_by INTEGER`,
    `ALTER TABLE run ADD COLUMN work TEXT`,
    `ALTER TABLE run ADD COLUMN process TEXT`,
    `ALTER TABLE attempt ADD COLUMN process TEXT`,

    // With a row id: rows this long would fill the pages of an index.
    `CREATE TABLE log_chunk (
       id INTEGER PRIMARY KEY,
       run_id INTEGER NOT NULL,
       fence INTEGER NOT NULL,
       chunk INTEGER NOT NULL,
       first_line INTEGER NOT NULL,
       lines INTEGER NOT NULL,
       entries TEXT NOT NULL,
       UNIQUE (run_id, fence, chunk)
     ) STRICT`,
  ],
}
