import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { queryOnce } from '../../test/support/postgres-query.ts'
import { startPostgres, type PostgresServer } from '../../test/support/postgres-server.ts'
import { startRedis, type RedisServer } from './redis-server.ts'

/** Provides stores to the variants: new ones for every variant of every round. */
export interface BenchEnvironment {
  readonly home: string
  /** One private server for the whole scenario; undefined when the scenario does not use PostgreSQL. */
  readonly postgres: PostgresServer | undefined
  /** Templates created by `prepare`, by name: a database URL, a file or a working tree. */
  readonly templates: Map<string, string>
  /** A new database, empty or a copy of a template; checkpointed, so that its creation does not slow the measurement. */
  database(template?: string): Promise<string>
  directory(): Promise<string>
  /** A new, empty server; `clear` stops it. */
  redis(): Promise<RedisServer>
  /** Removes everything the last variant used and waits for the file system to sync. */
  clear(): Promise<void>
  close(): Promise<void>
}

export async function openBenchEnvironment({
  withPostgres,
}: {
  withPostgres: boolean
}): Promise<BenchEnvironment> {
  const home = await mkdtemp(join(tmpdir(), 'punctual-bench-'))
  const postgres = withPostgres ? await startPostgres() : undefined
  const databases: string[] = []
  const directories: string[] = []
  const redisServers: RedisServer[] = []

  const makeDirectory = async () => {
    const directory = await mkdtemp(join(home, 'data-'))
    directories.push(directory)
    return directory
  }

  return {
    home,
    postgres,
    templates: new Map(),

    async database(template) {
      if (!postgres) throw new Error('this scenario does not declare needsPostgres')
      const url = template
        ? await copyDatabase(postgres.url, template)
        : await postgres.createDatabase()
      databases.push(databaseName(url))
      await queryOnce(postgres.url, 'CHECKPOINT')
      return url
    },

    directory: makeDirectory,

    async redis() {
      const server = await startRedis(await makeDirectory())
      redisServers.push(server)
      return server
    },

    async clear() {
      for (const server of redisServers.splice(0)) await server.stop()
      for (const name of databases.splice(0)) {
        await queryOnce(postgres!.url, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`)
      }
      for (const directory of directories.splice(0)) {
        await rm(directory, { recursive: true, force: true })
      }
      // On a disk mounted with `discard`, deleting a large file stalls the next sync.
      await promisify(execFile)('sync', ['-f', home]).catch(() => {})
    },

    async close() {
      for (const server of redisServers) await server.stop()
      await postgres?.stop('immediate')
      await rm(home, { recursive: true, force: true })
    },
  }
}

let copies = 0

async function copyDatabase(serverUrl: string, template: string): Promise<string> {
  copies += 1
  const url = new URL(serverUrl)
  url.pathname = `/copy_${copies}`
  await queryOnce(
    serverUrl,
    `CREATE DATABASE copy_${copies} TEMPLATE "${databaseName(template)}" STRATEGY file_copy`,
  )
  return url.href
}

function databaseName(url: string): string {
  return new URL(url).pathname.slice(1)
}
