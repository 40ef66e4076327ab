import type { Migration } from './migrate.ts'

/** How many runs hold a gate is a number in its row, and no longer rows to be counted. */
export const countedGates: Migration = {
  version: 15,
  statements: [
    `ALTER TABLE gate ADD COLUMN held INTEGER NOT NULL DEFAULT 0`,
    `UPDATE gate SET held = (SELECT count(*) FROM gate_holder WHERE gate_id = gate.id)`,
    `DROP TABLE gate_holder`,
  ],
}
