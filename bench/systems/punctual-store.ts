import Sqlite from 'better-sqlite3'
import { STATE_CODE } from '../../src/core/run/run-state.ts'
import { queryOnce } from '../../test/support/postgres-query.ts'

/** Counts succeeded runs in the store by plain SQL, after the scheduler has stopped. */
export async function countSucceeded(store: string): Promise<number> {
  return store.startsWith('sqlite:')
    ? countSqlite(store, `SELECT count(*) FROM run WHERE status = ${STATE_CODE.succeeded}`)
    : countPostgres(
        store,
        `SELECT count(*) AS n FROM punctual.run_end WHERE state = ${STATE_CODE.succeeded}`,
      )
}

export async function countRuns(store: string): Promise<number> {
  return store.startsWith('sqlite:')
    ? countSqlite(store, 'SELECT count(*) FROM run')
    : countPostgres(store, 'SELECT count(*) AS n FROM punctual.run')
}

/** Runs whose process exited with 0; SQLite only. */
export function countExitedWithZero(store: string): number {
  const isWell = `status = ${STATE_CODE.succeeded} AND process ->> 'exit_code' = 0`
  return countSqlite(store, `SELECT count(*) FROM run WHERE ${isWell}`)
}

/** Runs that no worker has started; SQLite only. */
export function countWaiting(store: string): number {
  return countSqlite(store, `SELECT count(*) FROM run WHERE status = ${STATE_CODE.ready}`)
}

function countSqlite(store: string, sql: string): number {
  const database = new Sqlite(store.slice('sqlite:'.length), { readonly: true })
  const count = database.prepare(sql).pluck().get() as number
  database.close()
  return count
}

async function countPostgres(store: string, sql: string): Promise<number> {
  const [row] = await queryOnce(store, sql)
  return Number(row!.n)
}
