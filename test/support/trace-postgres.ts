import pg from 'pg'
import { stateOfCode, STATE_CODE, type Cause, type RunState } from '../../src/core/run/run-state.ts'
import type { TraceRow } from './trace-sqlite.ts'

/** A database and the store's schema in it. */
export interface TracedStore {
  readonly url: string
  readonly schema?: string
}

/** A run is in the state of the table it was inserted into last; its end has a state of its own. */
const TABLES: readonly [table: string, state: string, cause: string][] = [
  ['ready', String(STATE_CODE.ready), 'NULL'],
  ['timer', String(STATE_CODE.scheduled), 'NULL'],
  ['lease', String(STATE_CODE.running), 'NULL'],
  ['blocked', String(STATE_CODE.blocked), 'NULL'],
  ['run_end', 'NEW.state', 'NEW.cause'],
]

/** Adds triggers that record every change of a run's state, from any node. */
export async function installTrace(store: TracedStore): Promise<void> {
  await query(
    store,
    `CREATE TABLE IF NOT EXISTS trace (
       seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run_id bigint NOT NULL,
       to_state smallint NOT NULL, attempt int NOT NULL, cause text);
     ${TABLES.map(triggerOn).join('\n')}`,
  )
}

/** All recorded changes after the first `after`, oldest first. */
export async function readTrace(store: TracedStore, after = 0): Promise<TraceRow[]> {
  // The sequence has gaps where a transaction was rolled back; positions in the list do not.
  const rows = await query<StoredRow>(
    store,
    `SELECT run_id, from_state, to_state, attempt, cause
       FROM (SELECT *, row_number() OVER (ORDER BY seq) AS place,
                    lag(to_state) OVER (PARTITION BY run_id ORDER BY seq) AS from_state
               FROM trace) numbered
      WHERE place > $1 ORDER BY place`,
    [after],
  )
  return rows.map(({ run_id, from_state, to_state, attempt, cause }) => ({
    runId: Number(run_id),
    from: from_state === null ? null : stateOfCode(from_state),
    to: stateOfCode(to_state) satisfies RunState,
    attempt,
    cause,
  }))
}

interface StoredRow {
  readonly run_id: string
  readonly from_state: number | null
  readonly to_state: number
  readonly attempt: number
  readonly cause: Cause | null
}

/** Triggers on the rows of all partitions, including later ones. */
function triggerOn([table, state, cause]: readonly [string, string, string]): string {
  return `
    CREATE OR REPLACE FUNCTION note_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO trace (run_id, to_state, attempt, cause)
      VALUES (NEW.run_id, ${state}, NEW.attempt, ${cause});
      RETURN NULL;
    END $$;
    DROP TRIGGER IF EXISTS note_${table} ON ${table};
    CREATE TRIGGER note_${table} AFTER INSERT ON ${table}
      FOR EACH ROW EXECUTE FUNCTION note_${table}();`
}

async function query<Row extends pg.QueryResultRow>(
  { url, schema = 'punctual' }: TracedStore,
  sql: string,
  values?: unknown[],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`SET search_path TO ${client.escapeIdentifier(schema)}`)
    return (await client.query<Row>(sql, values)).rows
  } finally {
    await client.end()
  }
}
