import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
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
  /** Ends the server and removes its files. Harmless when it is already down or gone. */
  stop(mode?: StopMode): Promise<void>
  /** Same data, same port. `immediate` makes the server recover from its log, as after a crash. */
  restart(mode?: StopMode): Promise<void>
  createDatabase(): Promise<string>
}

const PORT_TRIES = 5
const STOP_SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const

/**
 * A private PostgreSQL on a random loopback port with its files in a temporary directory. Creating
 * the cluster skips fsync because losing it costs nothing; the running server is as durable as one
 * in production, since durability is among the things tests measure.
 */
export async function startPostgres({
  version: flavour = 'embedded',
}: { version?: PostgresFlavour } = {}): Promise<PostgresServer> {
  const binDir = await postgresBinDir(flavour)
  const home = createServerHome('punctual-pg-')
  const dataDir = join(home, 'data')
  let running: { child: ChildProcess; port: number } | undefined
  try {
    await createCluster(binDir, dataDir)
    running = await launchOnFreePort(binDir, home)
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
        // After a kill the old backends need a moment to notice and let go of the shared memory.
        child = await waitFor(() => launch(binDir, home, port), {
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

async function launchOnFreePort(
  binDir: string,
  home: string,
): Promise<{ child: ChildProcess; port: number }> {
  for (let tries = 1; ; tries++) {
    const port = await freePort()
    try {
      return { child: await launch(binDir, home, port), port }
    } catch (error) {
      if (tries === PORT_TRIES || !String(error).includes('Address already in use')) throw error
    }
  }
}

async function launch(binDir: string, home: string, port: number): Promise<ChildProcess> {
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
  const [file, args] = unprivileged(join(binDir, 'postgres'), ['-D', join(home, 'data'), ...flags])
  const logPath = join(home, 'log')
  const log = openSync(logPath, 'w')
  // Its own process group: Ctrl-C in a terminal should end the tests first, then their server.
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
