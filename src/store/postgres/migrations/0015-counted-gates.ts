import type { Migration } from './migrate.ts'

/** How many runs hold a gate is a number in its row, and no longer rows to be counted. */
export const countedGates: Migration = {
  version: 15,
  statements: () => [
    // Written by every tick that has to do with it: room on its page keeps indexes out of that.
    `ALTER TABLE gate ADD COLUMN held int NOT NULL DEFAULT 0`,
    `ALTER TABLE gate SET (
       fillfactor = 40, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
       autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off)`,
    `UPDATE gate SET held = (SELECT count(*) FROM gate_holder WHERE gate_id = gate.id)`,
    `DROP TABLE gate_holder`,
    `ALTER TABLE lease ADD COLUMN gates int[]`,
    `UPDATE lease SET gates = run.gates FROM run WHERE run.id = lease.run_id AND gated`,
    `ALTER TABLE lease DROP COLUMN gated`,
  ],
}
