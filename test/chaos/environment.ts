import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../../src/client/index.ts'
import { createSeeded, type Seeded } from '../sim/seeded.ts'
import { waitFor } from '../support/wait-for.ts'
import { chaosProcess, createCast, type Role } from './processes.ts'
import { castServers, raiseServers, TOKEN } from './server-processes.ts'
import type { Database } from './databases.ts'
import { monotonicNs, readLines, readTruth, type ClientNote, type Fault } from './history.ts'
import type { History, FaultKind } from './history.ts'
import { startLoad, type Load } from './load.ts'
import type { WorkerSettings } from './worker-process.ts'

export interface StageOptions {
  readonly dir: string
  readonly seed: number
  readonly database: Database
  readonly servers: number
  readonly workers: number
}

/** Servers, workers and a load on one database, and the record of what was done to them. */
export interface Stage {
  readonly seeded: Seeded
  readonly load: Load
  readonly servers: readonly Role[]
  readonly workers: readonly Role[]
  /** Grows whenever a handler starts or ends. */
  progress(): number
  note(kind: FaultKind, target: string): void
  /** Ends the load, lets everything come to rest, stops all and tells what happened. */
  finish(): Promise<History>
  /** Whatever still runs is killed. Harmless after `finish`. */
  abandon(): Promise<void>
}

const SLOTS = 16
const REST_MS = 90_000

export async function openStage(options: StageOptions): Promise<Stage> {
  const { dir, seed, database } = options
  const seeded = createSeeded(seed)
  const clientPath = join(dir, 'client.ndjson')
  const faultPath = join(dir, 'faults.ndjson')
  const note = (kind: FaultKind, target: string) => {
    const fault: Fault = { kind, target, atNs: monotonicNs() }
    appendFileSync(faultPath, `${JSON.stringify(fault)}\n`)
  }

  const cast = createCast(dir, (processName) => note('died', processName))
  const { servers, urls } = await castServers(cast, options.servers, database)
  const workers = Array.from({ length: options.workers }, (_, index) =>
    cast.role(`worker-${index + 1}`, (name) => {
      // Each worker prefers another server, so that no server is without.
      const own = [...urls.slice(index % urls.length), ...urls.slice(0, index % urls.length)]
      const truthPath = join(dir, `${name}.truth`)
      const settings: WorkerSettings = { name, urls: own, token: TOKEN, slots: SLOTS, truthPath }
      return chaosProcess('worker-process.ts', settings)
    }),
  )

  try {
    await raiseServers(servers, database)
    await Promise.all(workers.map((role) => role.start()))
  } catch (error) {
    await cast.dismiss()
    throw error
  }
  const client = connect({ url: urls, token: TOKEN })
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
      // What does not come to rest is the checker's to report.
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
        faults: readLines<Fault>(readOrNothing(faultPath)),
        truth: truthFiles(dir).flatMap((name) =>
          readTruth(name.replace('.truth', ''), readFileSync(join(dir, name), 'utf8')),
        ),
        dump: await database.dump(),
      }
    },
    abandon: cast.dismiss,
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
