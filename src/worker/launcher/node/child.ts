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

/** How long output may stay open after the process and its group are gone: somebody broke away. */
const OUTPUT_GRACE_MS = 500

/** Timers that are longer go off at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A machine does not use up its process numbers in less. */
const YOUNG_MS = 2_000

/** What of its end is the launcher's doing. */
export type EndCause = Pick<EndDetails, 'timedOut' | 'lapsed'>

export interface ChildHooks {
  onOutput(stream: 1 | 2, bytes: Buffer): void
  onUnstartable(message: string): void
  onEnd(code: number | null, signal: string | null, why: EndCause): void
  /** Ends what is left of a tree. */
  sweep(tree: Tree, done: () => void): void
}

/** One process and all that descends from it. */
export class Child {
  readonly #hooks: ChildHooks
  readonly #mark: Mark
  readonly #startedMono = performance.now()
  #process: ChildProcess | undefined
  #killAtMono = Infinity
  #killer: NodeJS.Timeout | undefined
  #timer: NodeJS.Timeout | undefined
  #isOver = false
  #isWanted = true
  #hasRoom = true
  #wasStopped = false
  #cause: EndCause = {}

  constructor(order: StartOrder, hooks: ChildHooks) {
    this.#hooks = hooks
    this.#mark = { run: order.env[RUN_VARIABLE] ?? '', fence: order.env[FENCE_VARIABLE] ?? '' }
    try {
      this.#process = start(order)
    } catch (error) {
      this.#fail(error, order)
      return
    }
    this.#watch(this.#process, order)
    if (order.timeoutMs !== undefined) this.#limitTime(order.timeoutMs, order.graceMs ?? 0)
  }

  /** Asks it to end, and makes it after the grace. A later call can only shorten the grace. */
  stop(graceMs: number): void {
    const pid = this.#process?.pid
    if (pid === undefined || this.#isOver) return
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
      // Whoever was stopped for another reason has not run out of time.
      if (!this.#wasStopped) this.#cause = { timedOut: true }
      this.stop(graceMs)
    }, stepMs)
  }

  /** The whole tree, now. */
  kill(): void {
    this.#wasStopped = true
    if (this.tree) killTrees([this.tree])
  }

  /** Better not started than started where nobody could end it after us: kills it, and says why. */
  disown(why: string): void {
    this.kill()
    this.#refuse(why)
  }

  /** Says that it is killed because its lease has run out; returns what is to be killed. */
  lapse(): Tree[] {
    if (!this.#isOver) this.#cause = { lapsed: true }
    return this.tree ? [this.tree] : []
  }

  /** All that descends from it, if it ever started. */
  get tree(): (Tree & { readonly leader: number }) | undefined {
    const leader = this.#process?.pid
    return leader === undefined ? undefined : { leader, mark: this.#mark }
  }

  /** Whether the worker wants to read what this one prints. */
  read(isWanted: boolean): void {
    this.#isWanted = isWanted
    this.#flow()
  }

  /** Whether there is room for what anybody prints. */
  letPrint(hasRoom: boolean): void {
    this.#hasRoom = hasRoom
    this.#flow()
  }

  #flow(): void {
    for (const stream of [this.#process?.stdout, this.#process?.stderr]) {
      if (this.#isWanted && this.#hasRoom) stream?.resume()
      else stream?.pause()
    }
  }

  #watch(child: ChildProcess, order: StartOrder): void {
    const show = (stream: 1 | 2) => (bytes: Buffer) => {
      if (!this.#isOver) this.#hooks.onOutput(stream, bytes)
    }
    child.stdout?.on('data', show(1))
    child.stderr?.on('data', show(2))
    // A process need not read what it is given.
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
      if (this.#isOver || --open > 0) return
      this.#isOver = true
      clearTimeout(late)
      this.#hooks.onEnd(code, signal, this.#cause)
    }
    const late = setTimeout(() => {
      for (const stream of [child.stdout, child.stderr]) giveUp(stream)
    }, OUTPUT_GRACE_MS)
    // Nothing it started may outlive it, and everything it printed comes before its end.
    let open = 2
    child.once('close', end)
    const isYoung = performance.now() - this.#startedMono < YOUNG_MS
    this.#hooks.sweep({ leader, mark: this.#mark, isYoung }, end)
  }

  #fail(error: unknown, order: StartOrder): void {
    this.#refuse(whyNot(error as NodeJS.ErrnoException, order))
  }

  #refuse(why: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#hooks.onUnstartable(why)
  }
}

function start({ file, args, env, cwd, stdin, umask }: StartOrder): ChildProcess {
  // A child takes over what its parent has; starting one is a single step, so nobody sees the change.
  const before = umask === undefined ? undefined : process.umask(umask)
  try {
    return spawn(file, args, {
      env: { ...env },
      ...(cwd === undefined ? {} : { cwd }),
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      // A session and a group of its own: signals reach all of it, and nobody else.
      detached: true,
    })
  } finally {
    if (before !== undefined) process.umask(before)
  }
}

function giveUp(stream: Readable | null): void {
  stream?.destroy()
}

/** The system says ENOENT for a missing program and for a missing directory alike. */
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
