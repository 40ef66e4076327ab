import { type ChildProcess, spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import type { EndDetails, StartOrder } from '../messages.ts'
import {
  FENCE_VARIABLE,
  kill,
  killTrees,
  type Mark,
  RUN_VARIABLE,
  type Tree,
} from '../process-tree.ts'
import { writeSecretFiles } from './secret-files.ts'

/**
 * How long output may stay open after the process and its group are gone: a descendant broke away.
 */
const OUTPUT_GRACE_MS = 500

/** Node fires longer timers at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A machine does not reuse process numbers within this time. */
const YOUNG_MS = 2_000

/** The part of its end that the launcher caused. */
export type EndCause = Pick<EndDetails, 'timedOut' | 'leaseExpired'>

export interface ChildHooks {
  onOutput(stream: 1 | 2, bytes: Buffer): void
  onUnstartable(message: string): void
  onEnd(code: number | null, signal: string | null, why: EndCause): void
  /** Kills what is left of a tree. */
  sweep(tree: Tree, done: () => void): void
}

/** One process and all its descendants. */
export class Child {
  readonly #hooks: ChildHooks
  readonly #mark: Mark
  readonly #startedMono = performance.now()
  #process: ChildProcess | undefined
  #killAtMono = Infinity
  #killer: NodeJS.Timeout | undefined
  #timer: NodeJS.Timeout | undefined
  #hasEnded = false
  #isWanted = true
  #hasCapacity = true
  #wasStopped = false
  #cause: EndCause = {}
  /** Secret files must not outlive the process, even if its worker has died. */
  deleteFiles: () => void = () => {}

  constructor(order: StartOrder, hooks: ChildHooks) {
    this.#hooks = hooks
    this.#mark = { run: order.env[RUN_VARIABLE] ?? '', fence: order.env[FENCE_VARIABLE] ?? '' }
    try {
      this.deleteFiles = writeSecretFiles(order.secretFiles)
    } catch (error) {
      this.#failStart((error as Error).message)
      return
    }
    try {
      this.#process = start(order)
    } catch (error) {
      this.#fail(error, order)
      return
    }
    this.#watch(this.#process, order)
    if (order.timeoutMs !== undefined) this.#limitTime(order.timeoutMs, order.graceMs ?? 0)
  }

  /**
   * Asks the process to end, and kills it after the grace. A later call can only shorten the grace.
   */
  stop(graceMs: number): void {
    const pid = this.#process?.pid
    if (pid === undefined || this.#hasEnded) return
    if (graceMs <= 0) return this.kill()
    if (!this.#wasStopped) kill(-pid, 'SIGTERM')
    this.#wasStopped = true
    const killAtMono = performance.now() + graceMs
    if (killAtMono >= this.#killAtMono) return
    this.#killAtMono = killAtMono
    clearTimeout(this.#killer)
    this.#killer = setTimeout(() => this.kill(), graceMs)
  }

  #limitTime(leftMs: number, graceMs: number): void {
    const stepMs = Math.min(leftMs, LONGEST_TIMER_MS)
    this.#timer = setTimeout(() => {
      if (leftMs > stepMs) return this.#limitTime(leftMs - stepMs, graceMs)
      // A process that was stopped for another reason has not timed out.
      if (!this.#wasStopped) this.#cause = { timedOut: true }
      this.stop(graceMs)
    }, stepMs)
  }

  /** Kills the whole tree at once. */
  kill(): void {
    this.#wasStopped = true
    if (this.tree) killTrees([this.tree])
  }

  /**
   * Kills a process whose start could not be recorded: a later worker could not find and end it.
   */
  killUnrecorded(why: string): void {
    this.kill()
    this.#failStart(why)
  }

  /** Marks it as killed by an expired lease, and returns the tree to kill. */
  expire(): Tree[] {
    if (!this.#hasEnded) this.#cause = { leaseExpired: true }
    return this.tree ? [this.tree] : []
  }

  /** The process and its descendants, if it was started. */
  get tree(): (Tree & { readonly leader: number }) | undefined {
    const leader = this.#process?.pid
    return leader === undefined ? undefined : { leader, mark: this.#mark }
  }

  /** Pauses or resumes its output at the worker's request. */
  read(isWanted: boolean): void {
    this.#isWanted = isWanted
    this.#updateReading()
  }

  /** Pauses or resumes its output while the pipe to the worker is full. */
  setOutputCapacity(hasCapacity: boolean): void {
    this.#hasCapacity = hasCapacity
    this.#updateReading()
  }

  #updateReading(): void {
    for (const stream of [this.#process?.stdout, this.#process?.stderr]) {
      if (this.#isWanted && this.#hasCapacity) stream?.resume()
      else stream?.pause()
    }
  }

  #watch(child: ChildProcess, order: StartOrder): void {
    const show = (stream: 1 | 2) => (bytes: Buffer) => {
      if (!this.#hasEnded) this.#hooks.onOutput(stream, bytes)
    }
    child.stdout?.on('data', show(1))
    child.stderr?.on('data', show(2))
    // A process need not read its input.
    child.stdin?.on('error', () => {})
    child.stdin?.end(order.stdin)
    child.on('error', (error) => this.#fail(error, order))
    child.once('exit', (code, signal) => this.#exited(child, code, signal))
  }

  #exited(child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    clearTimeout(this.#killer)
    clearTimeout(this.#timer)
    const leader = child.pid as number
    kill(-leader)
    const end = () => {
      if (this.#hasEnded || --open > 0) return
      this.#hasEnded = true
      this.deleteFiles()
      clearTimeout(late)
      this.#hooks.onEnd(code, signal, this.#cause)
    }
    const late = setTimeout(() => {
      for (const stream of [child.stdout, child.stderr]) giveUp(stream)
    }, OUTPUT_GRACE_MS)
    // Nothing it started may outlive it, and all its output comes before its end.
    let open = 2
    child.once('close', end)
    const isYoung = performance.now() - this.#startedMono < YOUNG_MS
    this.#hooks.sweep({ leader, mark: this.#mark, isYoung }, end)
  }

  #fail(error: unknown, order: StartOrder): void {
    this.#failStart(whyNot(error as NodeJS.ErrnoException, order))
  }

  #failStart(why: string): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.deleteFiles()
    this.#hooks.onUnstartable(why)
  }
}

function start({ file, args, env, cwd, stdin, umask }: StartOrder): ChildProcess {
  // A child inherits the umask. Spawning is synchronous, so no other code sees the change.
  const before = umask === undefined ? undefined : process.umask(umask)
  try {
    return spawn(file, args, {
      env: { ...env },
      ...(cwd === undefined ? {} : { cwd }),
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      // A session and a group of its own: signals reach all of it, and nothing else.
      detached: true,
    })
  } finally {
    if (before !== undefined) process.umask(before)
  }
}

function giveUp(stream: Readable | null): void {
  stream?.destroy()
}

/** The system reports ENOENT for a missing program and for a missing directory alike. */
function whyNot(error: NodeJS.ErrnoException, { file, cwd }: StartOrder): string {
  if (cwd !== undefined && !isDirectory(cwd)) return `the directory ${cwd} does not exist`
  switch (error.code) {
    case 'ENOENT':
      return `the program ${file} was not found`
    case 'EACCES':
      return `the program ${file} may not be executed`
    case 'ENOEXEC':
      return `the program ${file} is in a format this machine cannot execute`
    case 'E2BIG':
      return 'the arguments and the environment are too long for this machine'
    case 'EAGAIN':
      return 'this machine has no room for another process'
    default:
      return `${file} could not be started: ${error.message}`
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
