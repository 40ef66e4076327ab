import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { waitFor } from '../support/wait-for.ts'

const SETPRIV = '/usr/bin/setpriv'
const START_MS = 60_000
const STOP_MS = 30_000
/** How much of what it said last is told. */
const WORDS = 2_000

/** A child that the nemesis may do things to. */
export interface ManagedProcess {
  readonly name: string
  /** False once it was killed, stopped, or ended by itself. */
  isRunning(): boolean
  /** Resolves when it says that it is up. */
  ready(): Promise<void>
  /** kill -9; resolves when the kernel is done with it. */
  kill(): Promise<void>
  freeze(): void
  thaw(): void
  /** A line on its standard input; one that is gone does not hear it. */
  tell(line: string): void
  /** SIGTERM, and kill -9 when that is not heard. */
  stop(): Promise<void>
}

export interface LaunchOptions {
  readonly name: string
  /** What Node is to run, and with which arguments. */
  readonly command: readonly string[]
  /** Where children keep what they compiled, so that a restart costs half as much. */
  readonly cacheDir: string
  /** Where its standard error goes. */
  readonly errorPath: string
  /** It ended, and nobody here had asked it to. */
  readonly onDeath: () => void
}

/** Starts a child; it is not up before `ready`. */
export function launch(options: LaunchOptions): ManagedProcess {
  const { name, errorPath, onDeath } = options
  const errors = openSync(errorPath, 'a')
  const child = start(options, errors)
  closeSync(errors)
  let said = ''
  let isMeantToEnd = false
  child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stdin?.on('error', () => {})
  const gone = once(child, 'exit').then(() => {
    if (!isMeantToEnd) onDeath()
  })
  const isRunning = () => child.exitCode === null && child.signalCode === null
  const end = async (signal: NodeJS.Signals) => {
    isMeantToEnd = true
    if (isRunning()) child.kill(signal)
    await gone
  }
  return {
    name,
    isRunning,
    async ready() {
      const isSettled = () => !isRunning() || said.includes('\n')
      const what = `${name} to be ready`
      await waitFor(isSettled, { what, deadlineMs: START_MS, intervalMs: 5 })
      if (isRunning()) return
      const why = readFileSync(errorPath, 'utf8').slice(-WORDS)
      throw new Error(`${name} ended while it started, and said: ${why || 'nothing'}`)
    },
    kill: () => end('SIGKILL'),
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    tell: (line) => void child.stdin?.write(`${line}\n`),
    async stop() {
      const hurry = waitFor(() => !isRunning(), { what: `${name} to stop`, deadlineMs: STOP_MS })
      await Promise.all([end('SIGTERM'), hurry.catch(() => child.kill('SIGKILL'))])
    },
  }
}

/**
 * The child ends with its standard input, which ends with us. A frozen child would not notice, so
 * where it can be asked to, the kernel kills it.
 */
function start({ command, cacheDir }: LaunchOptions, errors: number): ChildProcess {
  const killer = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig=KILL'] : []
  const [file = '', ...args] = [...killer, process.execPath, ...command]
  const env = { ...process.env, NODE_COMPILE_CACHE: cacheDir }
  return spawn(file, args, { stdio: ['pipe', 'pipe', errors], env })
}
