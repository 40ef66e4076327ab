import type { Migration } from './migrate.ts'

/** Which jobs a hook runs: an index over the definitions in force. */
export const hooks: Migration = {
  version: 16,
  statements: [
    `CREATE TABLE hook (
       project_id INTEGER NOT NULL,
       name TEXT NOT NULL,
       job_id INTEGER NOT NULL,
       PRIMARY KEY (project_id, name, job_id)
     ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX hook_of_job ON hook (job_id)`,
    `INSERT OR IGNORE INTO hook (project_id, name, job_id)
     SELECT job.project_id, json_extract(said.value, '$.webhook'), job.id
       FROM job JOIN job_version v ON v.job_id = job.id AND v.version = job.version,
            json_each(v.definition, '$.triggers') AS said
      WHERE json_extract(said.value, '$.webhook') IS NOT NULL`,
  ],
}
