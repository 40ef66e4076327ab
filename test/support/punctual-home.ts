import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from './wait-for.ts'

export const BIN = join(import.meta.dirname, '../../bin/punctual')
const SETPRIV = '/usr/bin/setpriv'
const START_MS = 60_000

export interface CommandResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** `bin/punctual` as a user starts it, with its own home directory, in which no other server is found. */
export interface PunctualHome {
  readonly dir: string
  readonly dataDir: string
  readonly env: NodeJS.ProcessEnv
  /** Runs a command line to its end. */
  run(argv: readonly string[], env?: NodeJS.ProcessEnv): Promise<CommandResult>
  /** Starts a command that runs until the test is over. `out` and `err` grow. */
  start(argv: readonly string[], env?: NodeJS.ProcessEnv): StartedCommand
  /** Registers another process to end before the directory is removed. */
  atEnd(end: () => void | Promise<void>): void
  /** Starts a server on its own port; resolves with its address. */
  up(...flags: string[]): Promise<string>
}

export interface StartedCommand {
  readonly child: ChildProcess
  readonly output: { out: string; err: string }
  readonly ended: Promise<number | null>
}

/** For one test, or with `{ after }` of `node:test` for all of a file. */
export function openHome(t: { after(end: () => Promise<void>): void }): PunctualHome {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-home-'))
  const cleanups: (() => void | Promise<void>)[] = []
  t.after(async () => {
    // The directory is removed after every process in it has ended.
    const ended = cleanups.map(async (end) => end())
    await Promise.allSettled(ended)
    // A process that got SIGHUP may still be writing.
    rmSync(dir, { recursive: true, force: true, maxRetries: 20 })
  })
  const dataDir = join(dir, 'data')
  const env = privateEnv(dir)

  const start = (argv: readonly string[], more: NodeJS.ProcessEnv = {}): StartedCommand => {
    const [file, ...args] = [...withParentDeathSignal(), process.execPath, BIN, ...argv]
    const child = spawn(file as string, args, {
      cwd: dir,
      env: { ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output = { out: '', err: '' }
    child.stdout.on('data', (chunk: Buffer) => (output.out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output.err += chunk.toString()))
    const ended = once(child, 'close').then(([code]) => code as number | null)
    cleanups.push(async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      // A test that failed may have frozen it.
      child.kill('SIGCONT')
      await ended
    })
    return { child, output: output, ended }
  }

  return {
    dir,
    dataDir,
    env,
    start,
    atEnd: (end) => void cleanups.push(end),
    async run(argv, more) {
      const { output, ended } = start(argv, more)
      return { code: await ended, ...output }
    },
    async up(...flags) {
      const { output, child } = start(['up', '--port', '0', '--data', dataDir, ...flags])
      return waitFor(
        () => {
          if (child.exitCode !== null) throw new Error(`it ended: ${output.err}`)
          return /address +(\S+)[^]*Try:/.exec(output.out)?.[1]
        },
        { what: 'a server to be up', deadlineMs: START_MS },
      )
    },
  }
}

/** The environment without the developer's own server, token and settings. */
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

/** A server that outlives a killed test would keep its port and file. */
function withParentDeathSignal(): string[] {
  return existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig=TERM'] : []
}
