import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'
import { postgresBinDir, type PostgresFlavour } from './postgres-binaries.ts'
import { createDatabase, serverVersion } from './postgres-query.ts'
import { createServerHome } from './server-home.ts'
import { unprivileged } from './unprivileged.ts'
import { waitFor } from './wait-for.ts'

export type StopMode = 'fast' | 'immediate'

export interface PostgresServer {
  readonly url: string
  readonly port: number
  readonly dataDir: string
  readonly binDir: string
  readonly version: string
  /** Changes with every restart. */
  readonly pid: number
  /** Stops the server and removes its files. Harmless when it is already stopped or removed. */
  stop(mode?: StopMode): Promise<void>
  /** Same data, same port. `immediate` makes the server recover from its log, as after a crash. */
  restart(mode?: StopMode): Promise<void>
  createDatabase(): Promise<string>
}

const PORT_TRIES = 5
const STOP_SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const

/**
 * A private PostgreSQL on a random loopback port with its files in a temporary directory. Creating the cluster
 * skips fsync because losing it costs nothing; the running server is as durable as in production, because tests
 * measure durability.
 */
export async function startPostgres({
  version: flavour = 'embedded',
  prepareDataDir,
  env = {},
}: {
  version?: PostgresFlavour
  /** Called with the empty data directory before the cluster is created, to mount a file system there. */
  prepareDataDir?: (dataDir: string) => void
  /** For the server only, set after it has dropped root privileges. */
  env?: Readonly<Record<string, string>>
} = {}): Promise<PostgresServer> {
  const binDir = await postgresBinDir(flavour)
  const home = createServerHome('punctual-pg-')
  const dataDir = join(home, 'data')
  if (prepareDataDir) {
    mkdirSync(dataDir)
    prepareDataDir(dataDir)
  }
  let running: { child: ChildProcess; port: number } | undefined
  try {
    await createCluster(binDir, dataDir)
    running = await launchOnFreePort({ binDir, home, env })
    const { port } = running
    const url = maintenanceUrl(port)
    const version = await serverVersion(url)
    let child = running.child
    return {
      url,
      port,
      dataDir,
      binDir,
      version,
      get pid() {
        return child.pid!
      },
      async stop(mode = 'fast') {
        await end(child, mode)
        rmSync(home, { recursive: true, force: true })
      },
      async restart(mode = 'fast') {
        await end(child, mode)
        // After a kill the old backends need a moment to exit and release the shared memory.
        child = await waitFor(() => launch({ binDir, home, env }, port), {
          what: 'PostgreSQL to come back',
          deadlineMs: 90_000,
          intervalMs: 100,
        })
      },
      createDatabase: () => createDatabase(url),
    }
  } catch (error) {
    if (running) await end(running.child, 'immediate')
    rmSync(home, { recursive: true, force: true })
    throw error
  }
}

async function createCluster(binDir: string, dataDir: string): Promise<void> {
  const options = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  const [file, args] = unprivileged(join(binDir, 'initdb'), ['-D', dataDir, ...options])
  await promisify(execFile)(file, args, { cwd: '/' })
}

interface Launching {
  readonly binDir: string
  readonly home: string
  readonly env: Readonly<Record<string, string>>
}

async function launchOnFreePort(
  launching: Launching,
): Promise<{ child: ChildProcess; port: number }> {
  for (let tries = 1; ; tries++) {
    const port = await freePort()
    try {
      return { child: await launch(launching, port), port }
    } catch (error) {
      if (tries === PORT_TRIES || !String(error).includes('Address already in use')) throw error
    }
  }
}

async function launch({ binDir, home, env }: Launching, port: number): Promise<ChildProcess> {
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: home,
    max_connections: 200,
    fsync: 'on',
    synchronous_commit: 'on',
    timezone: 'UTC',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const command = [join(binDir, 'postgres'), '-D', join(home, 'data'), ...flags]
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const wrapped = variables.length > 0 ? ['/usr/bin/env', ...variables, ...command] : command
  const [file, args] = unprivileged(wrapped[0]!, wrapped.slice(1))
  const logPath = join(home, 'log')
  const log = openSync(logPath, 'w')
  // Its own process group: Ctrl-C in a terminal must end the tests first, then their server.
  const child = spawn(file, args, { cwd: '/', detached: true, stdio: ['ignore', log, log] })
  closeSync(log)
  child.unref()
  try {
    await waitFor(async () => hasExited(child) || (await serverVersion(maintenanceUrl(port))), {
      what: `PostgreSQL on port ${port}`,
      deadlineMs: 60_000,
    })
    if (hasExited(child)) throw new Error('PostgreSQL ended while starting')
  } catch (error) {
    await end(child, 'immediate')
    throw new Error(`${String(error)}\n${readFileSync(logPath, 'utf8')}`, { cause: error })
  }
  return child
}

async function end(child: ChildProcess, mode: StopMode): Promise<void> {
  if (hasExited(child)) return
  const gone = once(child, 'exit')
  child.ref()
  child.kill(STOP_SIGNALS[mode])
  await gone
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function maintenanceUrl(port: number): string {
  return `postgres://postgres@127.0.0.1:${port}/postgres`
}
