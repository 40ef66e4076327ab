import type { Migration } from './migrate.ts'

/**
 * One `run` row holds a run's whole life: with a single writer and no dead rows, moving rows
 * between tables would only cost. Queries use partial indexes over the few rows in a state;
 * statements name the state as a literal, or the planner cannot choose the index. An index ends in
 * the rowid, which is the id, so none of them lists it.
 */
export const firstSchema: Migration = {
  version: 1,
  statements: [
    `CREATE TABLE meta (
       key TEXT PRIMARY KEY,
       value INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID`,

    `CREATE TABLE project (
       id INTEGER PRIMARY KEY,
       name TEXT NOT NULL UNIQUE
     ) STRICT`,

    `CREATE TABLE job (
       id INTEGER PRIMARY KEY,
       project_id INTEGER NOT NULL,
       name TEXT NOT NULL,
       UNIQUE (project_id, name)
     ) STRICT`,

    `CREATE TABLE lane (
       id INTEGER PRIMARY KEY,
       key TEXT NOT NULL UNIQUE,
       project TEXT NOT NULL,
       queue TEXT NOT NULL,
       labels TEXT NOT NULL,
       executor TEXT NOT NULL,
       weight INTEGER NOT NULL
     ) STRICT`,
    `CREATE INDEX lane_by_project ON lane (project)`,

    `CREATE TABLE gate (
       id INTEGER PRIMARY KEY,
       project_id INTEGER NOT NULL,
       name TEXT NOT NULL,
       capacity INTEGER NOT NULL,
       UNIQUE (project_id, name)
     ) STRICT`,
    `CREATE TABLE gate_holder (
       gate_id INTEGER NOT NULL,
       run_id INTEGER NOT NULL,
       PRIMARY KEY (gate_id, run_id)
     ) STRICT, WITHOUT ROWID`,

    // Long texts come last, so that reading a number does not have to skip them.
    `CREATE TABLE run (
       id INTEGER PRIMARY KEY,
       status INTEGER NOT NULL,
       project_id INTEGER NOT NULL,
       job_id INTEGER NOT NULL,
       lane_id INTEGER NOT NULL,
       rank INTEGER NOT NULL,
       pos INTEGER NOT NULL,
       minted_by INTEGER NOT NULL,
       created_at INTEGER NOT NULL,
       attempt INTEGER NOT NULL DEFAULT 1,
       lost INTEGER NOT NULL DEFAULT 0,
       claim_no INTEGER NOT NULL DEFAULT 0,
       cancelling INTEGER NOT NULL DEFAULT 0,
       fence INTEGER,
       node INTEGER,
       session INTEGER,
       due_at INTEGER,
       timer_at INTEGER,
       gate_id INTEGER,
       recheck_at INTEGER,
       started_at INTEGER,
       finished_at INTEGER,
       timeout_ms INTEGER,
       retry_of INTEGER,
       cause TEXT,
       worker TEXT,
       gates TEXT,
       dedupe_key TEXT,
       policy TEXT,
       tags TEXT,
       message TEXT,
       input TEXT,
       result TEXT
     ) STRICT`,
    `CREATE INDEX run_ready ON run (lane_id, rank, pos) WHERE status = 0`,
    // No index by session: only a worker that registers needs it, among the few running runs.
    `CREATE INDEX run_lease ON run (node) WHERE status = 1`,
    `CREATE INDEX run_lease_cancelling ON run (node) WHERE status = 1 AND cancelling = 1`,
    `CREATE INDEX run_timer ON run (timer_at) WHERE status = 2`,
    `CREATE INDEX run_blocked ON run (gate_id, rank, pos) WHERE status = 3`,
    `CREATE INDEX run_recheck ON run (recheck_at) WHERE status = 3`,
    `CREATE INDEX run_by_project ON run (project_id)`,
    `CREATE INDEX run_by_job ON run (job_id)`,
    `CREATE INDEX run_unlucky_by_project ON run (project_id, status) WHERE status >= 5`,
    `CREATE INDEX run_unlucky_by_job ON run (job_id, status) WHERE status >= 5`,

    // Only attempts of runs that went on: the last attempt of a run is in the run itself.
    `CREATE TABLE attempt (
       run_id INTEGER NOT NULL,
       fence INTEGER NOT NULL,
       attempt INTEGER NOT NULL,
       cause TEXT,
       message TEXT,
       worker TEXT,
       started_at INTEGER,
       finished_at INTEGER NOT NULL,
       PRIMARY KEY (run_id, fence)
     ) STRICT, WITHOUT ROWID`,

    // kind 0: a dedupe key, held while its run lives. kind 1: an idempotency key, held until
    // `until`.
    `CREATE TABLE dedupe (
       id INTEGER PRIMARY KEY,
       project_id INTEGER NOT NULL,
       kind INTEGER NOT NULL,
       key TEXT NOT NULL,
       run_id INTEGER NOT NULL,
       digest TEXT,
       until INTEGER,
       UNIQUE (project_id, kind, key)
     ) STRICT`,
    `CREATE INDEX dedupe_until ON dedupe (until) WHERE until IS NOT NULL`,

    // AUTOINCREMENT: an incarnation is never reused, even after its row was deleted.
    `CREATE TABLE node (
       incarnation INTEGER PRIMARY KEY AUTOINCREMENT,
       slot INTEGER NOT NULL,
       name TEXT NOT NULL,
       alive INTEGER NOT NULL,
       released INTEGER NOT NULL DEFAULT 0,
       expires_at INTEGER,
       reap_at INTEGER,
       id_mark INTEGER NOT NULL
     ) STRICT`,
    `CREATE TABLE session (
       id INTEGER PRIMARY KEY,
       node INTEGER NOT NULL,
       registration INTEGER NOT NULL,
       name TEXT NOT NULL,
       seen_at INTEGER NOT NULL
     ) STRICT`,
  ],
}
