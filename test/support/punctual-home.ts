import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from './wait-for.ts'

export const BIN = join(import.meta.dirname, '../../bin/punctual')
const SETPRIV = '/usr/bin/setpriv'
const START_MS = 60_000

export interface Done {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** `bin/punctual` as a user starts it, with a home of its own in which no other server is found. */
export interface PunctualHome {
  readonly dir: string
  readonly dataDir: string
  readonly env: NodeJS.ProcessEnv
  /** Runs a command line to its end. */
  run(argv: readonly string[], env?: NodeJS.ProcessEnv): Promise<Done>
  /** Starts one that stays until the test is over. `out` and `err` grow. */
  start(argv: readonly string[], env?: NodeJS.ProcessEnv): Started
  /** What else lives here is to be ended before the directory goes. */
  atEnd(end: () => void | Promise<void>): void
  /** Starts a server on a port of its own; resolves with its address. */
  up(...flags: string[]): Promise<string>
}

export interface Started {
  readonly child: ChildProcess
  readonly said: { out: string; err: string }
  readonly ended: Promise<number | null>
}

/** For one test, or with `{ after }` of `node:test` for all of a file. */
export function openHome(t: { after(end: () => Promise<void>): void }): PunctualHome {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-home-'))
  const endings: (() => void | Promise<void>)[] = []
  t.after(async () => {
    // The directory goes after everybody who lives in it.
    const ended = endings.map(async (end) => end())
    await Promise.allSettled(ended)
    // A process that was hung up on may still be writing its last.
    rmSync(dir, { recursive: true, force: true, maxRetries: 20 })
  })
  const dataDir = join(dir, 'data')
  const env = privateEnv(dir)

  const start = (argv: readonly string[], more: NodeJS.ProcessEnv = {}): Started => {
    const [file, ...args] = [...dyingWithUs(), process.execPath, BIN, ...argv]
    const child = spawn(file as string, args, {
      cwd: dir,
      env: { ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const said = { out: '', err: '' }
    child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()))
    const ended = once(child, 'close').then(([code]) => code as number | null)
    endings.push(async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      // It may have been frozen by a test that then failed.
      child.kill('SIGCONT')
      await ended
    })
    return { child, said, ended }
  }

  return {
    ...{ dir, dataDir, env, start },
    atEnd: (end) => void endings.push(end),
    async run(argv, more) {
      const { said, ended } = start(argv, more)
      return { code: await ended, ...said }
    },
    async up(...flags) {
      const { said, child } = start(['up', '--port', '0', '--data', dataDir, ...flags])
      return waitFor(
        () => {
          if (child.exitCode !== null) throw new Error(`it ended: ${said.err}`)
          return /address +(\S+)[^]*Try:/.exec(said.out)?.[1]
        },
        { what: 'a server to be up', deadlineMs: START_MS },
      )
    },
  }
}

/** Nothing of the tester's own: no server, no token, no settings. */
export function privateEnv(dir: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('PUNCTUAL_') && !name.startsWith('NODE_TEST'),
  )
  return {
    ...Object.fromEntries(own),
    HOME: dir,
    XDG_STATE_HOME: join(dir, 'state'),
    XDG_CONFIG_HOME: join(dir, 'config'),
  }
}

/** A server that outlives a test killed in its tracks would hold its port and file. */
function dyingWithUs(): string[] {
  return existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig=TERM'] : []
}
