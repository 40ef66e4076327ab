import { ID_EPOCH_MS, IDS_PER_MS } from '../../../core/ids.ts'

const WEEK_MS = 7 * 24 * 3_600_000
const IDS_PER_WEEK = WEEK_MS * IDS_PER_MS

/**
 * History is partitioned into weeks by run id: one partition per week, counted from the epoch of
 * ids.
 */
export function weekOfId(id: number): number {
  return Math.floor(id / IDS_PER_WEEK)
}

export function weekOfMs(ms: number): number {
  return Math.max(0, Math.floor((ms - ID_EPOCH_MS) / WEEK_MS))
}

/** The smallest id of a week; everything below the first week lies in the attic. */
export function firstIdOfWeek(week: number): number {
  return week * IDS_PER_WEEK
}

/**
 * The tables of history, the column each is partitioned by, and its indexes. Always locked in this
 * order. The primary key comes last: on a table the planner believes to be empty all indexes cost
 * the same and the youngest wins, and only this one finds a run without reading all of it.
 */
export const HISTORY = [
  { table: 'run', key: 'id', indexes: ['(job_id, id)', '(project_id, id)'], primaryKey: '(id)' },
  {
    table: 'run_end',
    key: 'run_id',
    indexes: ['(project_id, state, run_id) WHERE state >= 5'],
    primaryKey: '(run_id)',
  },
  { table: 'attempt', key: 'run_id', indexes: [], primaryKey: '(run_id, fence)' },
  { table: 'log_chunk', key: 'run_id', indexes: [], primaryKey: '(run_id, fence, chunk)' },
  {
    table: 'run_tag',
    key: 'run_id',
    indexes: [],
    primaryKey: '(project_id, name, value, run_id)',
  },
] as const

/** The tag index has the same weeks as the runs. */
export const ADD_MISSING_TAG_WEEKS = `
  DO $$
  DECLARE week record;
  BEGIN
    FOR week IN
      SELECT regexp_replace(child.relname, '^run_', 'run_tag_') AS name,
             pg_get_expr(child.relpartbound, child.oid) AS bound
        FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
       WHERE inhparent = 'run'::regclass
         AND NOT EXISTS (
           SELECT FROM pg_inherits JOIN pg_class tags ON tags.oid = inhrelid
            WHERE inhparent = 'run_tag'::regclass
              AND tags.relname = regexp_replace(child.relname, '^run_', 'run_tag_'))
    LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF run_tag %s', week.name, week.bound);
    END LOOP;
  END $$`

/**
 * Statements that create a partition: built as a separate table and then attached, because that
 * needs no lock that would block a tick.
 */
export function partitionStatements(
  { table, indexes, primaryKey }: (typeof HISTORY)[number],
  name: string,
  [from, to]: readonly [from: number | 'MINVALUE', to: number],
): string[] {
  return [
    `CREATE TABLE ${name} (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)`,
    ...indexes.map((index) => `CREATE INDEX ON ${name} ${index}`),
    `ALTER TABLE ${name} ADD PRIMARY KEY ${primaryKey}`,
    `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${from}) TO (${to})`,
  ]
}

export function partitionName(table: string, week: number): string {
  return `${table}_w${week}`
}

export function atticName(table: string): string {
  return `${table}_attic`
}
