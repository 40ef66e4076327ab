import type { Migration } from './migrate.ts'

/** Follow rules between jobs, and the follow-ups of ended runs. */
export const followers: Migration = {
  version: 17,
  statements: () => [
    // Follow rules of the definitions in force. `cause_id`: the job whose runs trigger the
    // follow-up; it differs from the source if the source is a step of a workflow.
    `CREATE TABLE follower (
       source_id int NOT NULL,
       job_id int NOT NULL,
       cause_id int NOT NULL,
       project_id int NOT NULL,
       wants text NOT NULL,
       PRIMARY KEY (source_id, job_id))`,
    `CREATE INDEX follower_by_job ON follower (job_id)`,
    `CREATE INDEX follower_by_cause ON follower (cause_id)`,
    `CREATE INDEX follower_by_project ON follower (project_id)`,

    // Settled by a run, or by the reason why there is none.
    `CREATE TABLE follow_up (
       source_run_id bigint NOT NULL,
       at bigint NOT NULL,
       settled_at bigint,
       run_id bigint,
       job_id int NOT NULL,
       project_id int NOT NULL,
       source_job_id int NOT NULL,
       state smallint NOT NULL,
       reason text,
       PRIMARY KEY (source_run_id, job_id))`,
    `CREATE INDEX follow_up_open ON follow_up (at) WHERE settled_at IS NULL`,
    `CREATE INDEX follow_up_settled ON follow_up (settled_at) WHERE settled_at IS NOT NULL`,
    `CREATE INDEX follow_up_by_run ON follow_up (run_id) WHERE run_id IS NOT NULL`,
    `CREATE INDEX follow_up_by_job ON follow_up (job_id, at)`,
  ],
}
