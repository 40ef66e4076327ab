import pg from 'pg'
import { measureAndExit, readVariantSettings, verify } from '../harness/variant-process.ts'

export interface RawSettings {
  readonly store: string
  readonly seconds: number
  readonly rows: number
  readonly connections: number
}

const INSERT = `INSERT INTO ceiling (id, created_at, input)
  SELECT id, $2, '{}' FROM unnest($1::bigint[]) AS t(id)`

/** Measures the ceiling: durable inserts into PostgreSQL without a scheduler. */
measureAndExit(async () => {
  const { store, seconds, rows, connections } = readVariantSettings() as RawSettings
  const pool = Array.from({ length: connections }, () => new pg.Client({ connectionString: store }))
  await Promise.all(pool.map((client) => client.connect()))
  await pool[0]!.query(
    'CREATE TABLE ceiling (id bigint PRIMARY KEY, created_at bigint NOT NULL, input text)',
  )
  let nextId = 1
  let inserted = 0
  const startedAt = performance.now()
  const until = startedAt + seconds * 1000
  await Promise.all(
    pool.map(async (client) => {
      while (performance.now() < until) {
        const ids = Array.from({ length: rows }, () => nextId++)
        await client.query({ name: 'insert', text: INSERT, values: [ids, Date.now()] })
        inserted += rows
      }
    }),
  )
  const elapsed = (performance.now() - startedAt) / 1000
  const { rows: counted } = await pool[0]!.query<{ n: string }>('SELECT count(*) AS n FROM ceiling')
  verify('rows inserted', inserted, Number(counted[0]!.n))
  await Promise.all(pool.map((client) => client.end()))
  return { runsPerSecond: inserted / elapsed }
})
