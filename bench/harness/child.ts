import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A message from a variant process: one JSON object per line on its standard output. */
export interface ChildMessage {
  readonly type: string
  readonly [key: string]: unknown
}

export interface BenchChild {
  readonly pid: number
  /** Resolves with the next message of this type; unread messages are kept. */
  nextMessage(type: string): Promise<ChildMessage>
  /** Writes the command as a line to the child's standard input. */
  sendCommand(command: string): void
  kill(signal: NodeJS.Signals): void
  /** Closes the child's standard input and waits for it to exit; kills it after a deadline. */
  stop(): Promise<void>
}

export const PROFILE_VARIABLE = 'PUNCTUAL_BENCH_PROFILE'
const STOP_MS = 20_000

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Starts a file of `bench/variants` in its own process, which exits when its standard input closes. */
export function startChild(script: string, settings: object): BenchChild {
  const file = join(ROOT, 'bench/variants', script)
  const child = spawn(process.execPath, [...profileFlags(), file, JSON.stringify(settings)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const inbox: ChildMessage[] = []
  const waiting: {
    type: string
    resolve: (line: ChildMessage) => void
    reject: (e: Error) => void
  }[] = []
  let exitError: Error | undefined

  // The recovery scenarios kill children, so a write may hit a closed pipe.
  child.stdin.on('error', () => {})
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = readLine(text)
    if (!line) return console.error(text)
    const index = waiting.findIndex(({ type }) => type === line.type)
    if (index === -1) inbox.push(line)
    else waiting.splice(index, 1)[0]!.resolve(line)
  })
  // 'close' fires after the last line was read; 'exit' may fire before that.
  child.on('close', (code, signal) => {
    exitError = new Error(`${script} ended with ${signal ?? `code ${code}`} before it had answered`)
    for (const { reject } of waiting.splice(0)) reject(exitError)
  })

  return {
    get pid() {
      return child.pid!
    },
    nextMessage(type) {
      const index = inbox.findIndex((line) => line.type === type)
      if (index !== -1) return Promise.resolve(inbox.splice(index, 1)[0]!)
      if (exitError) return Promise.reject(exitError)
      return new Promise((resolve, reject) => waiting.push({ type, resolve, reject }))
    },
    sendCommand: (command) => void child.stdin.write(`${command}\n`),
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

/** `--profile` sets the variable; a server that a variant starts inherits it. */
function profileFlags(): string[] {
  const folder = process.env[PROFILE_VARIABLE]
  return folder ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : []
}

function readLine(text: string): ChildMessage | undefined {
  if (!text.startsWith('{"type":')) return undefined
  return JSON.parse(text) as ChildMessage
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
