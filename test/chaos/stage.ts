import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../../src/client/index.ts'
import { createSeeded, type Seeded } from '../sim/seeded.ts'
import { freePort } from '../support/free-port.ts'
import { waitFor } from '../support/wait-for.ts'
import type { Database } from './databases.ts'
import { monotonicNs, readLines, readTruth, type ClientNote, type Fault } from './history.ts'
import type { History, FaultKind } from './history.ts'
import { startLoad, type Load } from './load.ts'
import { launch, type ManagedProcess } from './managed-process.ts'
import type { ServerSettings } from './server-process.ts'
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

/** One place on the stage, taken by one process after the other. */
export interface Role {
  readonly name: string
  current(): ManagedProcess
  /** Starts the next process and does not wait for it. */
  begin(): ManagedProcess
  start(): Promise<void>
}

const TOKEN = 'chaos-token-that-is-long-enough-to-be-one'
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

  const started = new Set<ManagedProcess>()
  const cast = (name: string, entry: string, settingsOf: (process: string) => object): Role => {
    let process: ManagedProcess | undefined
    let starts = 0
    const begin = () => {
      starts += 1
      const processName = `${name}.${starts}`
      process = launch({
        name: processName,
        entry,
        settings: settingsOf(processName),
        cacheDir: join(dir, 'compiled'),
        errorPath: join(dir, `${processName}.err`),
        onDeath: () => note('died', processName),
      })
      started.add(process)
      return process
    }
    return {
      name,
      current() {
        if (!process) throw new Error(`${name} was never started`)
        return process
      },
      begin,
      start: () => begin().ready(),
    }
  }

  const ports: number[] = []
  for (let index = 0; index < options.servers; index += 1) ports.push(await freePort())
  const urls = ports.map((port) => `http://127.0.0.1:${port}`)
  const servers = ports.map((port, index) =>
    cast(`server-${index + 1}`, 'server-process.ts', (name): ServerSettings => {
      return { name, store: database.storeUrl, port, token: TOKEN }
    }),
  )
  const workers = Array.from({ length: options.workers }, (_, index) =>
    cast(`worker-${index + 1}`, 'worker-process.ts', (name): WorkerSettings => {
      // Each worker prefers another server, so that no server is without.
      const own = [...urls.slice(index % urls.length), ...urls.slice(0, index % urls.length)]
      return { name, urls: own, token: TOKEN, slots: SLOTS, truthPath: join(dir, `${name}.truth`) }
    }),
  )
  const abandon = async () => {
    await Promise.all([...started].map((process) => process.kill()))
  }

  try {
    // The first start makes the schema, which the witness needs; and proves an orderly stop.
    const [first] = servers as [Role]
    await first.start()
    await first.current().stop()
    await database.witness()
    await Promise.all(servers.map((role) => role.start()))
    await Promise.all(workers.map((role) => role.start()))
  } catch (error) {
    await abandon()
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
    abandon,
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
