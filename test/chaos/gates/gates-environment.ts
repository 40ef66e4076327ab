import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, connect } from '../../../src/client/index.ts'
import { BIN } from '../../support/punctual-home.ts'
import { createProcessGroup, type ProcessRole } from '../processes.ts'
import { defineServers, startServers, CHAOS_TOKEN } from '../server-processes.ts'
import type { ChaosDatabase } from '../databases.ts'
import type { TracePaths } from './run-spec.ts'
import { openTraceLog, type TraceLog } from './trace-log.ts'

/** Servers and ordinary command-line workers, and the traces of their processes. */
export interface GatesEnvironment {
  readonly urls: readonly string[]
  readonly client: Client
  readonly servers: readonly ProcessRole[]
  readonly workers: readonly ProcessRole[]
  readonly traces: TracePaths
  readonly traceLog: TraceLog
  /** Stops every process in order: the database then has its final content. */
  finish(): Promise<void>
  /** Kills everything that still runs. Harmless after `finish`. */
  abandon(): Promise<void>
}

export interface GatesEnvironmentOptions {
  readonly dir: string
  readonly database: ChaosDatabase
  readonly servers: number
  readonly workers: number
  /** Slots of each worker. */
  readonly slots: number
  onDeath(processName: string): void
}

/** Servers are up when it resolves; workers are not. */
export async function openGatesEnvironment(
  options: GatesEnvironmentOptions,
): Promise<GatesEnvironment> {
  const { dir, database, onDeath } = options
  const traces = { truthPath: join(dir, 'trace'), locksDir: join(dir, 'locks') }
  mkdirSync(traces.locksDir)
  const processes = createProcessGroup(dir, onDeath)
  const { servers, urls } = await defineServers(processes, options.servers, database)
  const workers = Array.from({ length: options.workers }, (_, index) =>
    processes.role(`worker-${index + 1}`, (name) => {
      const server = urls[index % urls.length] as string
      const flags = { server, token: CHAOS_TOKEN, name, slots: String(options.slots) }
      return [BIN, 'worker', ...Object.entries(flags).flatMap(([flag, is]) => [`--${flag}`, is])]
    }),
  )
  const client = connect({ url: urls, token: CHAOS_TOKEN })
  const traceLog = openTraceLog(traces.truthPath)
  const abandon = async () => {
    await client.close()
    await processes.killAll()
    traceLog.close()
  }
  try {
    await startServers(servers, database)
  } catch (error) {
    await abandon()
    throw error
  }
  return {
    urls,
    client,
    servers,
    workers,
    traces,
    traceLog,
    abandon,
    async finish() {
      for (const role of [...workers, ...servers]) await role.current().stop()
    },
  }
}
