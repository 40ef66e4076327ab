import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A line a variant says: JSON on its standard output, nothing else is spoken there. */
export interface Line {
  readonly type: string
  readonly [key: string]: unknown
}

export interface Child {
  readonly pid: number
  /** The next line of this type, now or later; earlier lines are kept until somebody asks. */
  next(type: string): Promise<Line>
  /** What the child reads as a line on its standard input. */
  tell(word: string): void
  kill(signal: NodeJS.Signals): void
  /** Asks it to stop by closing its input and waits; kills it when it does not go. */
  stop(): Promise<void>
}

export const PROFILE_VARIABLE = 'PUNCTUAL_BENCH_PROFILE'
const STOP_MS = 20_000

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Starts a file of `bench/variants` in its own process; closing our end of the pipe ends it. */
export function startChild(script: string, settings: object): Child {
  const file = join(ROOT, 'bench/variants', script)
  const child = spawn(process.execPath, [...profileFlags(), file, JSON.stringify(settings)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const inbox: Line[] = []
  const waiting: { type: string; resolve: (line: Line) => void; reject: (e: Error) => void }[] = []
  let gone: Error | undefined

  // Writing to a process that has just died is how a kill test looks from here.
  child.stdin.on('error', () => {})
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = readLine(text)
    if (!line) return console.error(text)
    const index = waiting.findIndex(({ type }) => type === line.type)
    if (index === -1) inbox.push(line)
    else waiting.splice(index, 1)[0]!.resolve(line)
  })
  // 'close' comes after the last line was read, 'exit' may come before.
  child.on('close', (code, signal) => {
    gone = new Error(`${script} ended with ${signal ?? `code ${code}`} before it had answered`)
    for (const { reject } of waiting.splice(0)) reject(gone)
  })

  return {
    get pid() {
      return child.pid!
    },
    next(type) {
      const index = inbox.findIndex((line) => line.type === type)
      if (index !== -1) return Promise.resolve(inbox.splice(index, 1)[0]!)
      if (gone) return Promise.reject(gone)
      return new Promise((resolve, reject) => waiting.push({ type, resolve, reject }))
    },
    tell: (word) => void child.stdin.write(`${word}\n`),
    kill: (signal) => void child.kill(signal),
    async stop() {
      if (hasExited(child)) return
      child.stdin.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await exited
      clearTimeout(timer)
    },
  }
}

/** Set by `--profile`; a variant that starts a server hands it on. */
function profileFlags(): string[] {
  const folder = process.env[PROFILE_VARIABLE]
  return folder ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : []
}

function readLine(text: string): Line | undefined {
  if (!text.startsWith('{"type":')) return undefined
  return JSON.parse(text) as Line
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
