import type { Migration } from './migrate.ts'
import { firstIdOfWeek, weekOfMs } from '../partitions/weeks.ts'

/**
 * Hot tables are small, and dead rows at the left edge of their index slow down claims, so they are
 * vacuumed early and at full speed. They keep their pages: returning them needs an exclusive lock,
 * and a table that fills up again in a second gains nothing from it.
 */
const HOT = `WITH (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off)`

const NAMES = [
  `CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL)`,

  `CREATE TABLE project (
     id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     name text NOT NULL UNIQUE)`,
  `CREATE TABLE job (
     id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     project_id int NOT NULL,
     name text NOT NULL,
     UNIQUE (project_id, name))`,
  `CREATE TABLE lane (
     id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     key text NOT NULL UNIQUE,
     project text NOT NULL,
     queue text NOT NULL,
     labels text NOT NULL,
     executor text NOT NULL,
     weight int NOT NULL)`,
  `CREATE INDEX lane_by_project ON lane (project)`,
]

/** Insert-only; partitioned by week of the id, so that deleting old runs drops a table. */
const HISTORY_TABLES = [
  `CREATE TABLE run (
     id bigint PRIMARY KEY,
     created_at bigint NOT NULL,
     due_at bigint,
     timeout_ms bigint,
     retry_of bigint,
     project_id int NOT NULL,
     job_id int NOT NULL,
     lane_id int NOT NULL,
     minted_by int NOT NULL,
     rank smallint NOT NULL,
     gates int[],
     dedupe_key text,
     policy text,
     tags text,
     input text) PARTITION BY RANGE (id)`,
  `CREATE INDEX run_by_job ON run (job_id, id)`,
  `CREATE INDEX run_by_project ON run (project_id, id)`,

  `CREATE TABLE run_end (
     run_id bigint PRIMARY KEY,
     fence bigint,
     started_at bigint,
     finished_at bigint NOT NULL,
     project_id int NOT NULL,
     attempt int NOT NULL,
     lost int NOT NULL,
     state smallint NOT NULL,
     cause text,
     worker text,
     message text,
     result text) PARTITION BY RANGE (run_id)`,
  `CREATE INDEX run_end_unlucky ON run_end (project_id, state, run_id) WHERE state >= 5`,

  // Only attempts of runs that went on: the last attempt of a run is in its end.
  `CREATE TABLE attempt (
     run_id bigint,
     fence bigint,
     started_at bigint NOT NULL,
     finished_at bigint NOT NULL,
     attempt int NOT NULL,
     cause text,
     worker text,
     message text,
     PRIMARY KEY (run_id, fence)) PARTITION BY RANGE (run_id)`,
]

/**
 * A run without an end is in exactly one of these four tables. Only leases are ever updated.
 *
 * A column is looked up through one index only. These tables are often empty, and to a planner that
 * believes them empty, reading all of an index that merely contains the column costs as much as
 * finding a row in the index that starts with it. `run_id + 0` sorts or constrains like `run_id`,
 * yet no lookup by `run_id` can use it.
 */
const HOT_TABLES = [
  `CREATE TABLE ready (
     run_id bigint PRIMARY KEY,
     pos bigint NOT NULL,
     claim_no bigint NOT NULL,
     lane_id int NOT NULL,
     attempt int NOT NULL,
     lost int NOT NULL,
     rank smallint NOT NULL) ${HOT}`,
  `CREATE INDEX ready_in_line ON ready (lane_id, rank, pos)`,

  `CREATE TABLE timer (
     run_id bigint PRIMARY KEY,
     due_at bigint NOT NULL,
     claim_no bigint NOT NULL,
     lane_id int NOT NULL,
     attempt int NOT NULL,
     lost int NOT NULL,
     rank smallint NOT NULL,
     gated boolean NOT NULL) ${HOT}`,
  `CREATE INDEX timer_due ON timer (due_at, (run_id + 0))`,

  // What a run may have to release at its end (gate slots, a dedupe key) is noted here, so that the
  // many runs that have neither pay nothing for it.
  `CREATE TABLE lease (
     run_id bigint PRIMARY KEY,
     fence bigint NOT NULL,
     session bigint NOT NULL,
     pos bigint NOT NULL,
     claim_no bigint NOT NULL,
     started_at bigint NOT NULL,
     node int NOT NULL,
     project_id int NOT NULL,
     lane_id int NOT NULL,
     attempt int NOT NULL,
     lost int NOT NULL,
     rank smallint NOT NULL,
     gated boolean NOT NULL,
     keyed boolean NOT NULL,
     cancelling boolean NOT NULL DEFAULT false) ${HOT}`,
  `CREATE INDEX lease_cancelling ON lease (node) WHERE cancelling`,

  `CREATE TABLE blocked (
     run_id bigint PRIMARY KEY,
     pos bigint NOT NULL,
     claim_no bigint NOT NULL,
     recheck_at bigint NOT NULL,
     gate_id int NOT NULL,
     lane_id int NOT NULL,
     attempt int NOT NULL,
     lost int NOT NULL,
     rank smallint NOT NULL,
     gates int[] NOT NULL) ${HOT}`,
  `CREATE INDEX blocked_at_gate ON blocked (gate_id, rank, pos)`,
  `CREATE INDEX blocked_to_recheck ON blocked (recheck_at)`,
]

const KEYS_AND_GATES = [
  `CREATE TABLE gate (
     id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     project_id int NOT NULL,
     name text NOT NULL,
     capacity int NOT NULL,
     UNIQUE (project_id, name))`,
  `CREATE TABLE gate_holder (gate_id int NOT NULL, run_id bigint NOT NULL) ${HOT}`,
  `CREATE UNIQUE INDEX gate_holder_once ON gate_holder (gate_id, (run_id + 0))`,
  `CREATE INDEX gate_holder_by_run ON gate_holder (run_id)`,
  // A statement calls this when one of its assumptions does not hold: see `Assumptions` in tick.ts.
  `CREATE FUNCTION fail_hope(code text) RETURNS boolean LANGUAGE plpgsql AS $$
   BEGIN
     RAISE EXCEPTION 'a hope of this tick failed' USING ERRCODE = code;
   END $$`,

  `CREATE TABLE dedupe (
     project_id int,
     key text,
     run_id bigint NOT NULL,
     PRIMARY KEY (project_id, key)) ${HOT}`,
  `CREATE INDEX dedupe_by_run ON dedupe (run_id)`,
  `CREATE TABLE idempotency (
     project_id int,
     key text,
     digest text NOT NULL,
     run_id bigint NOT NULL,
     until bigint NOT NULL,
     PRIMARY KEY (project_id, key))`,
  `CREATE INDEX idempotency_by_until ON idempotency (until)`,
]

const NODES = [
  `CREATE TABLE node (
     id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     slot smallint NOT NULL,
     name text NOT NULL,
     alive boolean NOT NULL,
     released boolean NOT NULL,
     expires_at bigint NOT NULL,
     reap_at bigint,
     id_mark bigint NOT NULL) WITH (fillfactor = 50)`,
  `CREATE UNIQUE INDEX node_alive ON node (slot) WHERE alive`,
  `CREATE TABLE session (
     id bigint PRIMARY KEY,
     registration bigint NOT NULL,
     seen_at bigint NOT NULL,
     node int NOT NULL,
     name text NOT NULL)`,
]

/**
 * The partition of each history table for ids before the first week (the "attic"). Written out
 * here: the way later partitions are created may change, this migration may not.
 */
function attic(
  table: string,
  indexes: readonly string[],
  primaryKey: string,
  to: number,
): string[] {
  const name = `${table}_attic`
  return [
    `CREATE TABLE ${name} (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)`,
    ...indexes.map((index) => `CREATE INDEX ON ${name} ${index}`),
    `ALTER TABLE ${name} ADD PRIMARY KEY ${primaryKey}`,
    `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (MINVALUE) TO (${to})`,
  ]
}

function attics(nowMs: number): string[] {
  const to = firstIdOfWeek(weekOfMs(nowMs))
  return [
    ...attic('run', ['(job_id, id)', '(project_id, id)'], '(id)', to),
    ...attic('run_end', ['(project_id, state, run_id) WHERE state >= 5'], '(run_id)', to),
    ...attic('attempt', [], '(run_id, fence)', to),
  ]
}

export const firstSchema: Migration = {
  version: 1,
  statements: ({ nowMs }) => [
    ...NAMES,
    ...HISTORY_TABLES,
    ...attics(nowMs),
    ...HOT_TABLES,
    ...KEYS_AND_GATES,
    ...NODES,
  ],
}
