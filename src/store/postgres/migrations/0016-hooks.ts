import type { Migration } from './migrate.ts'

/** Which jobs a hook runs: an index over the definitions in force. */
export const hooks: Migration = {
  version: 16,
  statements: () => [
    `CREATE TABLE hook (
       project_id int NOT NULL,
       job_id int NOT NULL,
       name text NOT NULL,
       PRIMARY KEY (project_id, name, job_id))`,
    `CREATE INDEX hook_of_job ON hook (job_id)`,
    `INSERT INTO hook (project_id, job_id, name)
     SELECT DISTINCT job.project_id, job.id, said ->> 'webhook'
       FROM job JOIN job_version v ON v.job_id = job.id AND v.version = job.version,
            jsonb_array_elements(
              CASE WHEN v.definition LIKE '%"triggers"%'
                   THEN v.definition::jsonb -> 'triggers' END) AS said
      WHERE said ->> 'webhook' IS NOT NULL`,
  ],
}
