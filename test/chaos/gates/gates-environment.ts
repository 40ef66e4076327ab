import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, connect } from '../../../src/client/index.ts'
import { BIN } from '../../support/punctual-home.ts'
import { createCast, type Role } from '../processes.ts'
import { castServers, raiseServers, TOKEN } from '../server-processes.ts'
import type { Database } from '../databases.ts'
import type { Traces } from './run-spec.ts'
import { readTruth, type Truth } from './trace-log.ts'

/** Servers and ordinary workers of the command line, and what their processes write down. */
export interface GatesStage {
  readonly urls: readonly string[]
  readonly client: Client
  readonly servers: readonly Role[]
  readonly workers: readonly Role[]
  readonly traces: Traces
  readonly truth: Truth
  /** Everybody stops in order: what is in the database then is all there ever will be. */
  finish(): Promise<void>
  /** Whatever still runs is killed. Harmless after `finish`. */
  abandon(): Promise<void>
}

export interface GatesStageOptions {
  readonly dir: string
  readonly database: Database
  readonly servers: number
  readonly workers: number
  /** Of each worker. */
  readonly slots: number
  onDeath(processName: string): void
}

/** Servers are up when it resolves; workers are not. */
export async function openGatesStage(options: GatesStageOptions): Promise<GatesStage> {
  const { dir, database, onDeath } = options
  const traces = { truthPath: join(dir, 'truth'), locksDir: join(dir, 'locks') }
  mkdirSync(traces.locksDir)
  const cast = createCast(dir, onDeath)
  const { servers, urls } = await castServers(cast, options.servers, database)
  const workers = Array.from({ length: options.workers }, (_, index) =>
    cast.role(`worker-${index + 1}`, (name) => {
      const server = urls[index % urls.length] as string
      const flags = { server, token: TOKEN, name, slots: String(options.slots) }
      return [BIN, 'worker', ...Object.entries(flags).flatMap(([flag, is]) => [`--${flag}`, is])]
    }),
  )
  const client = connect({ url: urls, token: TOKEN })
  const truth = readTruth(traces.truthPath)
  const abandon = async () => {
    await client.close()
    await cast.dismiss()
    truth.close()
  }
  try {
    await raiseServers(servers, database)
  } catch (error) {
    await abandon()
    throw error
  }
  return {
    ...{ urls, client, servers, workers, traces, truth, abandon },
    async finish() {
      for (const role of [...workers, ...servers]) await role.current().stop()
    },
  }
}
