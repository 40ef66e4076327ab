import type { Migration } from './migrate.ts'

/** Follow rules between jobs, and the follow-ups of ended runs. */
export const followers: Migration = {
  version: 17,
  statements: [
    // Follow rules of the definitions in force. `cause_id`: the job whose runs trigger the
    // follow-up; it differs from the source if the source is a step of a workflow.
    `CREATE TABLE follower (
       source_id INTEGER NOT NULL,
       job_id INTEGER NOT NULL,
       cause_id INTEGER NOT NULL,
       wants TEXT NOT NULL,
       PRIMARY KEY (source_id, job_id)
     ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX follower_by_job ON follower (job_id)`,
    `CREATE INDEX follower_by_cause ON follower (cause_id)`,

    // Settled by a run, or by the reason why there is none.
    `CREATE TABLE follow_up (
       source_run_id INTEGER NOT NULL,
       job_id INTEGER NOT NULL,
       project_id INTEGER NOT NULL,
       source_job_id INTEGER NOT NULL,
       state INTEGER NOT NULL,
       at INTEGER NOT NULL,
       settled_at INTEGER,
       run_id INTEGER,
       reason TEXT,
       PRIMARY KEY (source_run_id, job_id)
     ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX follow_up_open ON follow_up (at) WHERE settled_at IS NULL`,
    `CREATE INDEX follow_up_settled ON follow_up (settled_at) WHERE settled_at IS NOT NULL`,
    `CREATE INDEX follow_up_by_run ON follow_up (run_id) WHERE run_id IS NOT NULL`,
    `CREATE INDEX follow_up_by_job ON follow_up (job_id, at)`,
  ],
}
