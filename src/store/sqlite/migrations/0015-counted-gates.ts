import type { Migration } from './migrate.ts'

/** The number of runs that hold a gate is a number in its row, so that rows need not be counted. */
export const countedGates: Migration = {
  version: 15,
  statements: [
    `ALTER TABLE gate ADD COLUMN held INTEGER NOT NULL DEFAULT 0`,
    `UPDATE gate SET held = (SELECT count(*) FROM gate_holder WHERE gate_id = gate.id)`,
    `DROP TABLE gate_holder`,
  ],
}
