import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../../src/client/index.ts'
import { createSeeded, type Seeded } from '../sim/seeded.ts'
import { waitFor } from '../support/wait-for.ts'
import { chaosProcess, createProcessGroup, type ProcessRole } from './processes.ts'
import { defineServers, startServers, CHAOS_TOKEN } from './server-processes.ts'
import type { ChaosDatabase } from './databases.ts'
import {
  monotonicNs,
  readLines,
  readTruth,
  type ClientNote,
  type InjectedFault,
} from './history.ts'
import type { History, FaultKind } from './history.ts'
import { startLoad, type Load } from './load.ts'
import type { ChaosWorkerSettings } from './worker-process.ts'

export interface EnvironmentOptions {
  readonly dir: string
  readonly seed: number
  readonly database: ChaosDatabase
  readonly servers: number
  readonly workers: number
}

/** Servers, workers and a load on one database, and the record of the faults. */
export interface ChaosEnvironment {
  readonly seeded: Seeded
  readonly load: Load
  readonly servers: readonly ProcessRole[]
  readonly workers: readonly ProcessRole[]
  /** Grows whenever a handler starts or ends. */
  progress(): number
  note(kind: FaultKind, target: string): void
  /** Stops the load, waits until all runs end, stops every process and returns the history. */
  finish(): Promise<History>
  /** Kills everything that still runs. Harmless after `finish`. */
  abandon(): Promise<void>
}

const SLOTS = 16
const REST_MS = 90_000

export async function openEnvironment(options: EnvironmentOptions): Promise<ChaosEnvironment> {
  const { dir, seed, database } = options
  const seeded = createSeeded(seed)
  const clientPath = join(dir, 'client.ndjson')
  const faultPath = join(dir, 'faults.ndjson')
  const note = (kind: FaultKind, target: string) => {
    const fault: InjectedFault = { kind, target, atNs: monotonicNs() }
    appendFileSync(faultPath, `${JSON.stringify(fault)}\n`)
  }

  const processes = createProcessGroup(dir, (processName) => note('died', processName))
  const { servers, urls } = await defineServers(processes, options.servers, database)
  const workers = Array.from({ length: options.workers }, (_, index) =>
    processes.role(`worker-${index + 1}`, (name) => {
      // Each worker prefers another server, so that every server has a worker.
      const own = [...urls.slice(index % urls.length), ...urls.slice(0, index % urls.length)]
      const truthPath = join(dir, `${name}.truth`)
      const settings: ChaosWorkerSettings = {
        name,
        urls: own,
        token: CHAOS_TOKEN,
        slots: SLOTS,
        truthPath,
      }
      return chaosProcess('worker-process.ts', settings)
    }),
  )

  try {
    await startServers(servers, database)
    await Promise.all(workers.map((role) => role.start()))
  } catch (error) {
    await processes.killAll()
    throw error
  }
  const client = connect({ url: urls, token: CHAOS_TOKEN })
  const load = startLoad({
    client,
    seeded: createSeeded(seed + 1),
    note: (entry: ClientNote) => appendFileSync(clientPath, `${JSON.stringify(entry)}\n`),
  })

  return {
    seeded,
    load,
    servers,
    workers,
    progress: () => sum(truthFiles(dir).map((name) => statSync(join(dir, name)).size)),
    note,
    async finish() {
      await load.stop()
      // The checker reports runs that did not end.
      const isAtRest = async () => (await database.unfinished()) === 0
      await waitFor(isAtRest, {
        what: 'every run to end',
        deadlineMs: REST_MS,
        intervalMs: 100,
      }).catch(() => {})
      for (const role of [...workers, ...servers]) await role.current().stop()
      await client.close()
      return {
        client: readLines<ClientNote>(readFileSync(clientPath, 'utf8')),
        faults: readLines<InjectedFault>(readOrNothing(faultPath)),
        truth: truthFiles(dir).flatMap((name) =>
          readTruth(name.replace('.truth', ''), readFileSync(join(dir, name), 'utf8')),
        ),
        dump: await database.dump(),
      }
    },
    abandon: processes.killAll,
  }
}

function truthFiles(dir: string): string[] {
  return readdirSync(dir).filter((name) => name.endsWith('.truth'))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
