import type { Migration } from './migrate.ts'

/** An index of runs by tag, for lists. Runs older than the index are found by scanning. */
export const runTags: Migration = {
  version: 19,
  statements: [
    `CREATE TABLE run_tag (
       project_id INTEGER NOT NULL,
       name TEXT NOT NULL,
       value TEXT NOT NULL,
       run_id INTEGER NOT NULL,
       PRIMARY KEY (project_id, name, value, run_id)
     ) STRICT, WITHOUT ROWID`,
    `INSERT INTO meta (key, value) SELECT 'tags_indexed_from', coalesce(max(id) + 1, 0) FROM run`,
  ],
}
