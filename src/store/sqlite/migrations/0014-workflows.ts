import type { Migration } from './migrate.ts'

/** Workflows, and runs that start after other runs. */
export const workflows: Migration = {
  version: 14,
  statements: [
    // Kept after its run has ended. A workflow's run is running without a lease.
    `CREATE TABLE flow (
       run_id INTEGER PRIMARY KEY,
       job_id INTEGER NOT NULL,
       wave INTEGER NOT NULL,
       revision INTEGER NOT NULL,
       node INTEGER NOT NULL,
       began_at INTEGER NOT NULL,
       look_at INTEGER,
       ended_at INTEGER
     ) STRICT`,
    `CREATE INDEX flow_look ON flow (look_at) WHERE look_at IS NOT NULL`,
    `CREATE INDEX flow_live ON flow (run_id) WHERE ended_at IS NULL`,
    `CREATE TABLE wave (
       job_id INTEGER PRIMARY KEY,
       last INTEGER NOT NULL
     ) STRICT`,

    // Only steps that were reached. `told_at`: its run ended then, and no transition has processed
    // that yet.
    `CREATE TABLE step (
       flow_id INTEGER NOT NULL,
       step INTEGER NOT NULL,
       item INTEGER NOT NULL,
       state INTEGER NOT NULL,
       run_id INTEGER,
       told_at INTEGER,
       started_at INTEGER NOT NULL,
       finished_at INTEGER,
       due_at INTEGER,
       count INTEGER,
       reason TEXT,
       message TEXT,
       detail TEXT,
       PRIMARY KEY (flow_id, step, item)
     ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX step_by_run ON step (run_id) WHERE run_id IS NOT NULL`,
    `CREATE INDEX step_told ON step (told_at) WHERE told_at IS NOT NULL`,

    // Exists while the run waits.
    `CREATE TABLE need (
       run_id INTEGER NOT NULL,
       needed_id INTEGER NOT NULL,
       wants TEXT NOT NULL,
       PRIMARY KEY (run_id, needed_id, wants)
     ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX need_of ON need (needed_id)`,
  ],
}
