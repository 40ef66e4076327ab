import type { Migration } from './migrate.ts'

/** A partition for every week that has runs: chunks are dropped with their runs. */
const PARTITIONS_LIKE_RUN = `
  DO $$
  DECLARE week record;
  BEGIN
    FOR week IN
      SELECT replace(child.relname, 'run', 'log_chunk') AS name,
             pg_get_expr(child.relpartbound, child.oid) AS bounds
        FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
       WHERE inhparent = 'run'::regclass
    LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF log_chunk %s', week.name, week.bounds);
    END LOOP;
  END $$`

/** Runs that start processes, the facts about those processes, and job definitions. */
export const processes: Migration = {
  version: 2,
  statements: () => [
    `ALTER TABLE run ADD COLUMN version int, ADD COLUMN created_by int, ADD COLUMN work text`,
    `ALTER TABLE run_end ADD COLUMN process text`,
    `ALTER TABLE attempt ADD COLUMN process text`,

    `CREATE TABLE log_chunk (
       run_id bigint,
       fence bigint,
       chunk int,
       first_line bigint NOT NULL,
       lines int NOT NULL,
       entries text NOT NULL,
       PRIMARY KEY (run_id, fence, chunk)) PARTITION BY RANGE (run_id)`,
    PARTITIONS_LIKE_RUN,
  ],
}
