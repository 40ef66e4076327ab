import type { Migration } from './migrate.ts'

export const timeOf = (ms: string) => `to_timestamp(${ms} / 1000.0)`
const fieldOf = (...path: string[]) => `(v.definition::jsonb #>> '{${path.join()}}')`

/**
 * The printed text in a list of entries. Bytes that are not text must not fail a query for its
 * other rows.
 */
const PLAIN_TEXT = `
  CREATE FUNCTION plain_text(document text, path text[]) RETURNS text
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
  BEGIN
    RETURN (
      SELECT string_agg(entry ->> 2, '' ORDER BY place)
        FROM jsonb_array_elements(document::jsonb #> path) WITH ORDINALITY AS each (entry, place)
       WHERE entry ->> 1 <> '0');
  EXCEPTION WHEN OTHERS THEN
    RETURN E'[output that is no text]\\n';
  END $$`

/** SQL cannot read a packed chunk; short chunks, which most are, are plain JSON. */
export const CHUNK_TEXT = `
  CASE WHEN packed IS NULL THEN plain_text(entries, '{}')
       WHEN get_byte(packed, 0) = 91 THEN plain_text(convert_from(packed, 'UTF8'), '{}')
       ELSE format(E'[%s lines that only the API can read]\\n', lines) END`

/** Views over the stored data for readers that use only SQL. */
export const plainViews: Migration = {
  version: 11,
  statements: () => [
    `CREATE INDEX job_by_number ON job (project_id, id) WHERE version > 0`,
    // The owner named in the definition, to find jobs by owner without parsing every definition.
    `ALTER TABLE job ADD COLUMN owner text`,
    `UPDATE job SET owner = v.definition::json ->> 'owner' FROM job_version v
      WHERE v.job_id = job.id AND v.version = job.version`,
    `CREATE INDEX job_by_owner ON job (owner, id) WHERE version > 0 AND owner IS NOT NULL`,
    // The session row knew when it registered, but not when it was last heard from.
    `ALTER TABLE session ADD COLUMN heard_at bigint`,
    PLAIN_TEXT,

    `CREATE VIEW jobs AS
     SELECT job.id, coalesce(${fieldOf('title')}, job.name) AS name,
            coalesce(${fieldOf('run')}, ${fieldOf('script')}, ${fieldOf('http', 'url')},
              ${fieldOf('container', 'image')},
              (SELECT string_agg(word, ' ' ORDER BY place)
                 FROM jsonb_array_elements_text(v.definition::jsonb -> 'argv')
                      WITH ORDINALITY AS argv (word, place))) AS command,
            (SELECT string_agg(coalesce(rule ->> 'cron', rule ->> 'every', rule ->> 'at'), '; '
                      ORDER BY schedule.id)
               FROM schedule CROSS JOIN LATERAL (SELECT spec::jsonb -> 'rule') AS told (rule)
              WHERE job_id = job.id AND deleted_at IS NULL) AS schedule,
            (SELECT ${timeOf('created_at')} FROM job_version
              WHERE job_id = job.id ORDER BY version LIMIT 1) AS created_at
       FROM job JOIN job_version v ON v.job_id = job.id AND v.version = job.version`,

    `CREATE VIEW job_runs AS
     SELECT run.id AS run_id, run.job_id,
            coalesce(e.worker, (SELECT name FROM session WHERE id = l.session)) AS worker_id,
            ${timeOf(`coalesce(e.started_at, l.started_at,
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
      WHERE coalesce(e.started_at, l.started_at) IS NOT NULL
         OR EXISTS (SELECT FROM attempt WHERE run_id = run.id)`,

    `CREATE VIEW workers AS
     SELECT DISTINCT ON (s.name) s.name AS worker_id, ${timeOf('greatest(s.seen_at, s.heard_at)')} AS last_seen,
            CASE WHEN s.offer IS NOT NULL AND n.alive THEN 'active' ELSE 'inactive' END AS status
       FROM session s LEFT JOIN node n ON n.id = s.node
      ORDER BY s.name, s.seen_at DESC, s.id DESC`,
  ],
}
