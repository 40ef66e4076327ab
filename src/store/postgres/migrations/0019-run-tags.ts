import { idAtMs } from '../../../core/ids.ts'
import type { Migration } from './migrate.ts'

/** Nodes of the previous version may run next to new ones for this long; they do not write tags. */
const ROLLING_UPGRADE_MS = 86_400_000

/**
 * An index of runs by tag, for lists, partitioned by week like the runs. Runs that may be older
 * than the index are found by scanning. It has no attic: runs moved to the attic are scanned as
 * well.
 */
export const runTags: Migration = {
  version: 19,
  statements: ({ nowMs }) => [
    `CREATE TABLE run_tag (
       project_id int NOT NULL,
       name text NOT NULL,
       value text NOT NULL,
       run_id bigint NOT NULL,
       PRIMARY KEY (project_id, name, value, run_id)) PARTITION BY RANGE (run_id)`,
    `DO $$
     DECLARE week record;
     BEGIN
       FOR week IN
         SELECT child.relname AS name, pg_get_expr(child.relpartbound, child.oid) AS bound
           FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
          WHERE inhparent = 'run'::regclass
       LOOP
         EXECUTE format('CREATE TABLE %I PARTITION OF run_tag %s',
                        regexp_replace(week.name, '^run_', 'run_tag_'), week.bound);
       END LOOP;
     END $$`,
    `INSERT INTO meta (key, value)
     SELECT 'tags_indexed_from',
            CASE WHEN EXISTS (SELECT FROM run)
              -- Ids of a clock that was ahead may lie beyond the day of the upgrade.
              THEN greatest(${idAtMs(nowMs + ROLLING_UPGRADE_MS)}, (SELECT max(id) + 1 FROM run))
              ELSE 0 END::text`,
  ],
}
