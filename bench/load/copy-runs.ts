import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { IDS_PER_MS } from '../../src/core/ids.ts'
import { STATE_CODE } from '../../src/core/run/run-state.ts'

export interface CopyCounts {
  readonly finished: number
  readonly future: number
}

/** Each copy's id is one millisecond older than the previous; the offset keeps ids of the two kinds distinct. */
const ID_STEP = IDS_PER_MS
const ID_OFFSET = IDS_PER_MS / 2
/** Spreads the due times over some minutes of a day far in the future. */
const DUE_STEP_MS = 1

const { succeeded, scheduled } = STATE_CODE

export function copyRunsSqlite(path: string, { finished, future }: CopyCounts): void {
  const database = new Sqlite(path)
  // No sync per transaction: the copy of the file is synced as a whole.
  database.pragma('synchronous = OFF')
  database.pragma('temp_store = MEMORY')
  const columns = database.pragma('table_info(run)') as { name: string }[]
  const copy = (status: number, count: number, changes: Record<string, string>) =>
    database.exec(`
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      INSERT INTO run (${columns.map(({ name }) => name).join(', ')})
      SELECT ${columns.map(({ name }) => changes[name] ?? `original.${name}`).join(', ')}
        FROM (SELECT * FROM run WHERE status = ${status} LIMIT 1) AS original, n`)
  const older = (column: string, apart = 0) => `original.${column} - ${ID_STEP} * n.i - ${apart}`
  const later = (column: string) => `original.${column} + ${DUE_STEP_MS} * n.i`
  copy(succeeded, finished, { id: older('id'), pos: older('pos') })
  copy(scheduled, future, {
    id: older('id', ID_OFFSET),
    pos: older('pos', ID_OFFSET),
    due_at: later('due_at'),
    timer_at: later('timer_at'),
  })
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
}

export async function copyRunsPostgres(
  store: string,
  { finished, future }: CopyCounts,
): Promise<void> {
  const client = new pg.Client({ connectionString: store })
  await client.connect()
  await client.query(`SET search_path = punctual; SET synchronous_commit = off`)

  async function copy(
    table: string,
    where: string,
    count: number,
    changes: Record<string, string>,
  ) {
    const { rows } = await client.query<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute
        WHERE attrelid = '${table}'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    )
    const names = rows.map(({ name }) => name)
    await client.query(`
      INSERT INTO ${table} (${names.join(', ')})
      SELECT ${names.map((name) => changes[name] ?? `original.${name}`).join(', ')}
        FROM (SELECT * FROM ${table} WHERE ${where} LIMIT 1) AS original,
             generate_series(1, ${count}) AS n(i)`)
  }

  const older = (column: string, apart = 0) =>
    `original.${column} - ${ID_STEP}::bigint * n.i - ${apart}`
  const later = { due_at: `original.due_at + ${DUE_STEP_MS} * n.i` }
  const original = await client.query<{ ended: string; waiting: string }>(
    `SELECT (SELECT run_id FROM run_end) AS ended, (SELECT run_id FROM timer) AS waiting`,
  )
  const { ended, waiting } = original.rows[0]!
  await copy('run', `id = ${ended}`, finished, { id: older('id') })
  await copy('run_end', `run_id = ${ended}`, finished, { run_id: older('run_id') })
  await copy('run', `id = ${waiting}`, future, { id: older('id', ID_OFFSET), ...later })
  await copy('timer', `run_id = ${waiting}`, future, {
    run_id: older('run_id', ID_OFFSET),
    ...later,
  })
  await client.query('VACUUM (ANALYZE)')
  await client.end()
}
