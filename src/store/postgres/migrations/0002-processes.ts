import type { Migration } from '../migrate.ts'

/** Runs that start processes, what became of them, and definitions that runs follow. */
export const processes: Migration = {
  version: 2,
  statements: () => [
    `ALTER TABLE run ADD COLUMN version int, ADD COLUMN created_by int, ADD COLUMN work text`,
    `ALTER TABLE run_end ADD COLUMN process text`,
    `ALTER TABLE attempt ADD COLUMN process text`,
  ],
}
