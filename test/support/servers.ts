import { appendFileSync } from 'node:fs'
import { after } from 'node:test'
import { createDatabase, queryOnce } from './postgres-query.ts'
import { startPostgres, type PostgresServer } from './postgres-server.ts'

/** Set by `test/run.ts`: the server shared by the whole run, and the file that records the servers used. */
const SHARED_URL = process.env.PUNCTUAL_TEST_POSTGRES_URL
const NOTES_FILE = process.env.PUNCTUAL_TEST_SERVERS_FILE

let ownServer: Promise<PostgresServer> | undefined
const created: string[] = []

/**
 * The address of a fresh, empty database on a real PostgreSQL. Under `npm test` it is on the server shared by
 * the run; a file started directly with `node --test` gets its own server, which ends with the file.
 */
export async function postgresUrl(): Promise<string> {
  const serverUrl = SHARED_URL ?? (await (ownServer ??= startPostgres())).url
  recordServer('PostgreSQL')
  const url = await createDatabase(serverUrl)
  created.push(url)
  return url
}

/** Adds a line to the run's list of real servers that were exercised, once per name. */
export function recordServer(name: string): void {
  if (NOTES_FILE) appendFileSync(NOTES_FILE, `${name}\n`)
}

// Registered while the file is loaded, so that the hook belongs to the file and not to the test that first asks
// for a database.
after(async () => {
  if (ownServer) await (await ownServer).stop()
  else if (SHARED_URL) await dropUnused(SHARED_URL)
})

/**
 * Keeps the shared server small. A database with open connections is left alone: dropping it would fail a test
 * that closes its pool in a later hook.
 */
async function dropUnused(serverUrl: string): Promise<void> {
  const busy = await queryOnce(serverUrl, 'SELECT DISTINCT datname FROM pg_stat_activity')
  const busyNames = new Set(busy.map(({ datname }) => datname))
  for (const url of created) {
    const name = new URL(url).pathname.slice(1)
    if (!busyNames.has(name)) await queryOnce(serverUrl, `DROP DATABASE IF EXISTS ${name}`)
  }
}
