import { randomBytes } from 'node:crypto'
import pg from 'pg'

/** Creates an empty database next to the one that `url` names and returns its address. */
export async function createDatabase(url: string): Promise<string> {
  const name = `t_${process.pid}_${randomBytes(4).toString('hex')}`
  // template0 has no connections, so any number of files may create databases at the same time.
  await queryOnce(url, `CREATE DATABASE ${name} TEMPLATE template0`)
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}

export async function queryOnce(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  // A server that stops during a query also emits an event; the awaited call already reports it.
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}

export async function serverVersion(url: string): Promise<string> {
  const [row] = await queryOnce(url, 'SHOW server_version')
  return String(row!.server_version).split(' ')[0]!
}
