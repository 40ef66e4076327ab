import { chownSync } from 'node:fs'
import { join } from 'node:path'
import type { PostgresServer } from '../support/postgres-server.ts'
import { dumpPostgres, unfinishedInPostgres, recordEndsInPostgres } from './dump-postgres.ts'
import { dumpSqlite, unfinishedInSqlite, recordEndsInSqlite } from './dump-sqlite.ts'
import type { Dump } from './history.ts'

export interface ChaosDatabase {
  /** The URL for servers; `recordEnds` and the dump connect directly. */
  readonly storeUrl: string
  recordEnds(): Promise<void>
  /** Number of runs without an end, in one query: counting state by state would miss a run that changes state. */
  unfinished(): Promise<number>
  dump(): Promise<Dump>
}

export function sqliteIn(dir: string): ChaosDatabase {
  // A server refuses a database below a directory of another user, and `dir` belongs to another user where
  // PostgreSQL runs as one.
  chownSync(dir, process.getuid?.() ?? -1, process.getgid?.() ?? -1)
  const path = join(dir, 'data', 'punctual.db')
  return {
    storeUrl: `sqlite:${path}`,
    recordEnds: async () => recordEndsInSqlite(path),
    unfinished: async () => unfinishedInSqlite(path),
    dump: async () => dumpSqlite(path),
  }
}

/** `through` may put a proxy between the servers and the database. */
export async function postgresOn(
  server: PostgresServer,
  through: (url: string) => Promise<string> = async (url) => url,
): Promise<ChaosDatabase> {
  const url = await server.createDatabase()
  return postgresAt(url, await through(url))
}

/** An empty database; `storeUrl` is the URL for servers if it differs. */
export function postgresAt(url: string, storeUrl = url): ChaosDatabase {
  return {
    storeUrl,
    recordEnds: () => recordEndsInPostgres(url),
    unfinished: () => unfinishedInPostgres(url),
    dump: () => dumpPostgres(url),
  }
}
