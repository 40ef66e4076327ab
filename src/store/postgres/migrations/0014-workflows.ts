import type { Migration } from './migrate.ts'
import { CHUNK_TEXT, timeOf } from './0011-plain-views.ts'

/** The settings of the first schema for tables whose rows come and go. */
const HOT = `WITH (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off)`

/**
 * Workflows, and runs that start after other runs. A transaction that ends runs only deletes from
 * `awaited` and inserts into `told`, and never waits: everything else is done by the transaction
 * that locks the workflow.
 */
export const workflows: Migration = {
  version: 14,
  statements: () => [
    // A run without an end may be here instead of in a hot table. The row stays when its run has
    // ended.
    `CREATE TABLE flow (
       run_id bigint PRIMARY KEY,
       began_at bigint NOT NULL,
       look_at bigint,
       ended_at bigint,
       project_id int NOT NULL,
       job_id int NOT NULL,
       wave int NOT NULL,
       revision int NOT NULL,
       node int NOT NULL,
       attempt int NOT NULL,
       lost int NOT NULL,
       cancelling boolean NOT NULL DEFAULT false) WITH (fillfactor = 50)`,
    `CREATE INDEX flow_look ON flow (look_at) WHERE look_at IS NOT NULL`,
    `CREATE INDEX flow_live ON flow ((run_id + 0)) WHERE ended_at IS NULL`,
    `CREATE TABLE wave (job_id int PRIMARY KEY, last int NOT NULL)`,

    // Only steps that were reached.
    `CREATE TABLE step (
       flow_id bigint NOT NULL,
       run_id bigint,
       started_at bigint NOT NULL,
       finished_at bigint,
       due_at bigint,
       step int NOT NULL,
       item int NOT NULL,
       count int,
       state smallint NOT NULL,
       reason text,
       message text,
       detail text,
       PRIMARY KEY (flow_id, step, item))`,
    `CREATE INDEX step_by_run ON step (run_id) WHERE run_id IS NOT NULL`,
    // Runs of steps that have not ended.
    `CREATE TABLE awaited (
       run_id bigint PRIMARY KEY,
       flow_id bigint NOT NULL,
       step int NOT NULL,
       item int NOT NULL) ${HOT}`,
    // Runs of steps that have ended, which no transition has processed yet.
    `CREATE TABLE told (
       flow_id bigint NOT NULL,
       at bigint NOT NULL,
       step int NOT NULL,
       item int NOT NULL,
       state smallint NOT NULL,
       PRIMARY KEY (flow_id, step, item)) ${HOT}`,
    `CREATE INDEX told_at ON told (at)`,

    // While its run waits, which is then not at a gate. See the first schema for the sum.
    `CREATE TABLE need (
       run_id bigint NOT NULL,
       needed_id bigint NOT NULL,
       wants text NOT NULL) ${HOT}`,
    `CREATE UNIQUE INDEX need_once ON need (run_id, (needed_id + 0), wants)`,
    `CREATE INDEX need_of ON need (needed_id)`,
    `ALTER TABLE blocked ALTER COLUMN gate_id DROP NOT NULL`,

    // As before, but workflows under way are included.
    `CREATE OR REPLACE VIEW job_runs AS
     SELECT run.id AS run_id, run.job_id,
            coalesce(e.worker, (SELECT name FROM session WHERE id = l.session)) AS worker_id,
            ${timeOf(`coalesce(e.started_at, l.started_at, f.began_at,
              (SELECT max(started_at) FROM attempt WHERE run_id = run.id))`)} AS start_time,
            ${timeOf('e.finished_at')} AS end_time,
            CASE WHEN e.run_id IS NULL THEN 'running' WHEN e.state = 4 THEN 'success'
                 ELSE 'failure' END AS status,
            concat(
              (SELECT string_agg(${CHUNK_TEXT}, '' ORDER BY chunk) FROM log_chunk
                WHERE run_id = run.id AND fence = coalesce(e.fence, l.fence)),
              plain_text(e.process, '{output,last}')) AS logs
       FROM run
       LEFT JOIN run_end e ON e.run_id = run.id
       LEFT JOIN lease l ON l.run_id = run.id
       LEFT JOIN flow f ON f.run_id = run.id
      WHERE coalesce(e.started_at, l.started_at, f.began_at) IS NOT NULL
         OR EXISTS (SELECT FROM attempt WHERE run_id = run.id)`,
  ],
}
