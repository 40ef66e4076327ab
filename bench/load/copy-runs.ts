import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { IDS_PER_MS } from '../../src/core/ids.ts'
import { STATE_CODE } from '../../src/core/run/run-state.ts'

export interface Copies {
  readonly finished: number
  readonly future: number
}

/** Copies are a millisecond apart and older than their original; the two kinds must not meet. */
const STRIDE = IDS_PER_MS
const APART = IDS_PER_MS / 2
/** Due times are spread over some minutes around a day that is far away. */
const DUE_STEP_MS = 1

const { succeeded, scheduled } = STATE_CODE

export function multiplySqlite(path: string, { finished, future }: Copies): void {
  const database = new Sqlite(path)
  // The file is synced as a whole when it is copied.
  database.pragma('synchronous = OFF')
  database.pragma('temp_store = MEMORY')
  const columns = database.pragma('table_info(run)') as { name: string }[]
  const copy = (status: number, count: number, changes: Record<string, string>) =>
    database.exec(`
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      INSERT INTO run (${columns.map(({ name }) => name).join(', ')})
      SELECT ${columns.map(({ name }) => changes[name] ?? `original.${name}`).join(', ')}
        FROM (SELECT * FROM run WHERE status = ${status} LIMIT 1) AS original, n`)
  const older = (column: string, apart = 0) => `original.${column} - ${STRIDE} * n.i - ${apart}`
  const later = (column: string) => `original.${column} + ${DUE_STEP_MS} * n.i`
  copy(succeeded, finished, { id: older('id'), pos: older('pos') })
  copy(scheduled, future, {
    ...{ id: older('id', APART), pos: older('pos', APART) },
    ...{ due_at: later('due_at'), timer_at: later('timer_at') },
  })
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
}

export async function multiplyPostgres(store: string, { finished, future }: Copies): Promise<void> {
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
    `original.${column} - ${STRIDE}::bigint * n.i - ${apart}`
  const later = { due_at: `original.due_at + ${DUE_STEP_MS} * n.i` }
  const original = await client.query<{ ended: string; waiting: string }>(
    `SELECT (SELECT run_id FROM run_end) AS ended, (SELECT run_id FROM timer) AS waiting`,
  )
  const { ended, waiting } = original.rows[0]!
  await copy('run', `id = ${ended}`, finished, { id: older('id') })
  await copy('run_end', `run_id = ${ended}`, finished, { run_id: older('run_id') })
  await copy('run', `id = ${waiting}`, future, { id: older('id', APART), ...later })
  await copy('timer', `run_id = ${waiting}`, future, { run_id: older('run_id', APART), ...later })
  await client.query('VACUUM (ANALYZE)')
  await client.end()
}
