import type { Migration } from '../migrate.ts'

/** Runs that start processes, what became of them, and definitions that runs follow. */
export const processes: Migration = {
  version: 2,
  statements: [
    `ALTER TABLE run ADD COLUMN version INTEGER`,
    `ALTER TABLE run ADD COLUMN created_by INTEGER`,
    `ALTER TABLE run ADD COLUMN work TEXT`,
    `ALTER TABLE run ADD COLUMN process TEXT`,
    `ALTER TABLE attempt ADD COLUMN process TEXT`,
  ],
}
