import { readFileSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { queryOnce } from '../../test/support/postgres-query.ts'
import type { BenchEnvironment } from './environment.ts'

export interface Versions {
  readonly [name: string]: string
}

const DURABILITY = [
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'wal_sync_method',
  'shared_buffers',
]

export async function collectVersions(
  bench: BenchEnvironment,
  withPeers: boolean,
): Promise<Versions> {
  const versions: Record<string, string> = {
    punctual: packageVersion('../../package.json'),
    node: process.versions.node,
    SQLite: sqliteVersion(),
  }
  if (bench.postgres) versions['PostgreSQL'] = bench.postgres.version
  if (withPeers) {
    for (const peer of ['graphile-worker', 'pg-boss', 'bullmq']) {
      versions[peer] = packageVersion(`../node_modules/${peer}/package.json`)
    }
  }
  return versions
}

/** The server's current durability settings, without which a figure cannot be judged. */
export async function postgresSettings(url: string): Promise<Versions> {
  const rows = await queryOnce(
    url,
    `SELECT name, current_setting(name) AS value FROM pg_settings
      WHERE name IN (${DURABILITY.map((name) => `'${name}'`).join(', ')}) ORDER BY name`,
  )
  return Object.fromEntries(rows.map(({ name, value }) => [String(name), String(value)]))
}

function sqliteVersion(): string {
  const database = new Sqlite(':memory:')
  const version = database.prepare('SELECT sqlite_version()').pluck().get() as string
  database.close()
  return version
}

function packageVersion(path: string): string {
  const text = readFileSync(new URL(path, import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
