import type { Migration } from './migrate.ts'

/** The number of runs that hold a gate is a number in its row, so that rows need not be counted. */
export const countedGates: Migration = {
  version: 15,
  statements: () => [
    // Every tick that touches the gate updates the row: free space on its page keeps the updates
    // out of the indexes.
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
