import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { waitFor } from '../support/wait-for.ts'

const SETPRIV = '/usr/bin/setpriv'
const START_MS = 60_000
const STOP_MS = 30_000
/** How much of the end of standard error an exception shows. */
const MAX_ERROR_CHARS = 2_000

/** A child process that the fault injector can kill and freeze. */
export interface ManagedProcess {
  readonly name: string
  /** False once it was killed, stopped, or ended by itself. */
  isRunning(): boolean
  /** Resolves when the process reports that it is up. */
  ready(): Promise<void>
  /** Sends SIGKILL; resolves when the process has exited. */
  kill(): Promise<void>
  freeze(): void
  thaw(): void
  /** Writes a line to standard input; does nothing if the process has exited. */
  writeLine(line: string): void
  /** Sends SIGTERM, and SIGKILL after a deadline. */
  stop(): Promise<void>
}

export interface LaunchOptions {
  readonly name: string
  /** The file for Node to run, and its arguments. */
  readonly command: readonly string[]
  /** Where children cache compiled code, so that a restart takes half the time. */
  readonly cacheDir: string
  /** File for standard error. */
  readonly errorPath: string
  /** Called when the process ends without being asked to. */
  readonly onDeath: () => void
}

/** Starts a child; it is up once `ready` resolves. */
export function launch(options: LaunchOptions): ManagedProcess {
  const { name, errorPath, onDeath } = options
  const errors = openSync(errorPath, 'a')
  const child = start(options, errors)
  closeSync(errors)
  let output = ''
  let isEndExpected = false
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stdin?.on('error', () => {})
  const exited = once(child, 'exit').then(() => {
    if (!isEndExpected) onDeath()
  })
  const isRunning = () => child.exitCode === null && child.signalCode === null
  const end = async (signal: NodeJS.Signals) => {
    isEndExpected = true
    if (isRunning()) child.kill(signal)
    await exited
  }
  return {
    name,
    isRunning,
    async ready() {
      const isSettled = () => !isRunning() || output.includes('\n')
      const what = `${name} to be ready`
      await waitFor(isSettled, { what, deadlineMs: START_MS, intervalMs: 5 })
      if (isRunning()) return
      const why = readFileSync(errorPath, 'utf8').slice(-MAX_ERROR_CHARS)
      throw new Error(`${name} ended during startup, with the output: ${why || 'nothing'}`)
    },
    kill: () => end('SIGKILL'),
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    writeLine: (line) => void child.stdin?.write(`${line}\n`),
    async stop() {
      const hurry = waitFor(() => !isRunning(), { what: `${name} to stop`, deadlineMs: STOP_MS })
      await Promise.all([end('SIGTERM'), hurry.catch(() => child.kill('SIGKILL'))])
    },
  }
}

/**
 * The child ends when its standard input closes, which happens when this process ends. A frozen child would not
 * notice, so the kernel kills it where `setpriv` exists.
 */
function start({ command, cacheDir }: LaunchOptions, errors: number): ChildProcess {
  const killer = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig=KILL'] : []
  const [file = '', ...args] = [...killer, process.execPath, ...command]
  const env = { ...process.env, NODE_COMPILE_CACHE: cacheDir }
  return spawn(file, args, { stdio: ['pipe', 'pipe', errors], env })
}
