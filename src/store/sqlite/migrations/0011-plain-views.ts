import type { Migration } from './migrate.ts'

const timeOf = (ms: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${ms} / 1000.0, 'unixepoch')`
const fieldOf = (field: string) => `json_extract(v.definition, '$.${field}')`

/** SQL cannot read a packed chunk; short chunks, which most are, are plain JSON. */
const ENTRIES = `
  CASE WHEN substr(coalesce(c.packed, CAST(c.entries AS BLOB)), 1, 1) = X'5B'
       THEN CAST(coalesce(c.packed, c.entries) AS TEXT)
       ELSE json_array(json_array(0, 1, '[' || c.lines || ' lines that only the API can read]' || char(10)))
   END`
const LOGS = `
  (SELECT group_concat(text, '') FROM (
     SELECT json_extract(entry.value, '$[2]') AS text, c.chunk AS chunk, entry.key AS place
       FROM log_chunk c, json_each(${ENTRIES}) entry
      WHERE c.run_id = run.id AND c.fence = run.fence AND json_extract(entry.value, '$[1]') > 0
      UNION ALL
     SELECT json_extract(entry.value, '$[2]'), 4294967295, entry.key
       FROM json_each(run.process, '$.output.last') entry
      WHERE json_extract(entry.value, '$[1]') > 0
      ORDER BY chunk, place))`

/**
 * Views over the stored data for readers that use only SQL. Older programs read this file too, and
 * one view they cannot parse would make the whole database unreadable to them: so the views avoid
 * newer SQL features.
 */
export const plainViews: Migration = {
  version: 11,
  statements: [
    `CREATE INDEX job_by_number ON job (project_id) WHERE version > 0`,
    // The owner named in the definition, to find jobs by owner without parsing every definition.
    `ALTER TABLE job ADD COLUMN owner TEXT`,
    `UPDATE job SET owner = (SELECT json_extract(v.definition, '$.owner') FROM job_version v
                              WHERE v.job_id = job.id AND v.version = job.version)`,
    `CREATE INDEX job_by_owner ON job (owner) WHERE version > 0 AND owner IS NOT NULL`,

    // The session row knew when it registered, but not when it was last heard from.
    `ALTER TABLE session ADD COLUMN heard_at INTEGER`,
    `CREATE INDEX session_by_name ON session (name)`,

    `CREATE VIEW jobs AS
     SELECT job.id, coalesce(${fieldOf('title')}, job.name) AS name,
            coalesce(${fieldOf('run')}, ${fieldOf('script')}, ${fieldOf('http.url')}, ${fieldOf('container.image')},
              (SELECT group_concat(value, ' ') FROM json_each(v.definition, '$.argv'))) AS command,
            (SELECT group_concat(coalesce(json_extract(spec, '$.rule.cron'),
                      json_extract(spec, '$.rule.every'), json_extract(spec, '$.rule.at')), '; ')
               FROM schedule
              WHERE job_id = job.id AND deleted_at IS NULL) AS schedule,
            (SELECT ${timeOf('first.created_at')} FROM job_version first
              WHERE first.job_id = job.id ORDER BY first.version LIMIT 1) AS created_at
       FROM job JOIN job_version v ON v.job_id = job.id AND v.version = job.version`,

    `CREATE VIEW job_runs AS
     SELECT run.id AS run_id, run.job_id,
            CASE WHEN run.status = 1 THEN (SELECT name FROM session WHERE id = run.session)
                 ELSE run.worker END AS worker_id,
            ${timeOf(`coalesce(run.started_at,
              (SELECT max(started_at) FROM attempt WHERE run_id = run.id))`)} AS start_time,
            ${timeOf('run.finished_at')} AS end_time,
            CASE WHEN run.status < 4 THEN 'running' WHEN run.status = 4 THEN 'success'
                 ELSE 'failure' END AS status,
            coalesce(${LOGS}, '') AS logs
       FROM run
      WHERE run.started_at IS NOT NULL OR run.attempt > 1`,

    `CREATE VIEW workers AS
     SELECT s.name AS worker_id, ${timeOf('max(s.seen_at, coalesce(s.heard_at, 0))')} AS last_seen,
            CASE WHEN s.offer IS NOT NULL AND n.alive = 1 THEN 'active' ELSE 'inactive' END AS status
       FROM session s LEFT JOIN node n ON n.incarnation = s.node
      WHERE NOT EXISTS (SELECT 1 FROM session later WHERE later.name = s.name
                           AND (later.seen_at, later.id) > (s.seen_at, s.id))`,
  ],
}
