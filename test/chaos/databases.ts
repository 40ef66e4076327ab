import { join } from 'node:path'
import type { PostgresServer } from '../support/postgres-server.ts'
import { dumpPostgres, unfinishedInPostgres, witnessPostgres } from './dump-postgres.ts'
import { dumpSqlite, unfinishedInSqlite, witnessSqlite } from './dump-sqlite.ts'
import type { Dump } from './history.ts'

export interface Database {
  /** How servers reach it; the witness and the dump go straight to it. */
  readonly storeUrl: string
  witness(): Promise<void>
  /** Runs without an end, all at one instant: asked state by state, one that moves is missed. */
  unfinished(): Promise<number>
  dump(): Promise<Dump>
}

export function sqliteIn(dir: string): Database {
  const path = join(dir, 'punctual.db')
  return {
    storeUrl: `sqlite:${path}`,
    witness: async () => witnessSqlite(path),
    unfinished: async () => unfinishedInSqlite(path),
    dump: async () => dumpSqlite(path),
  }
}

/** `through` puts something between the servers and the database. */
export async function postgresOn(
  server: PostgresServer,
  through: (url: string) => Promise<string> = async (url) => url,
): Promise<Database> {
  const url = await server.createDatabase()
  return postgresAt(url, await through(url))
}

/** An empty database; `storeUrl` is how servers reach it, if that is another way. */
export function postgresAt(url: string, storeUrl = url): Database {
  return {
    storeUrl,
    witness: () => witnessPostgres(url),
    unfinished: () => unfinishedInPostgres(url),
    dump: () => dumpPostgres(url),
  }
}
