import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { createFrameReader } from './frames.ts'
import { type LauncherOptions, programsFor } from './launcher-programs.ts'
import { killLeftoversOf } from './leftovers.ts'
import type {
  Abilities,
  EndDetails,
  LauncherOrder,
  ProcessOutput,
  LauncherReport,
  StartOrder,
} from './messages.ts'
import { orderFrame } from './order-frames.ts'
import { createBufferCollector } from './buffer-collector.ts'
import { OUTPUT_FRAMES, readReport } from './report-frames.ts'

export type { LauncherOptions } from './launcher-programs.ts'

/** Child numbers are 32 bits wide and wrap around. */
const LAST_CHILD_NUMBER = 2 ** 32 - 1

/** A launcher ends its processes and itself within milliseconds. */
const CLOSE_MS = 10_000

export interface ChildEvents {
  onOutput(output: ProcessOutput): void
  onUnstartable(message: string): void
  onEnd(code: number | null, signal: string | null, details: EndDetails): void
  /**
   * The launcher ended without reporting the end of this process: assume it is dead, or kill it.
   */
  onAbandoned(): void
}

export type StartInput = Omit<StartOrder, 'order' | 'child'>

/** A worker's connection to one launcher process. */
export interface Launcher {
  /** The number of running processes. */
  readonly load: number
  readonly pid: number
  readonly abilities: Abilities
  start(input: StartInput, events: ChildEvents): StartedChild
  /** Closes the connection; the launcher kills what still runs. */
  close(): void
  readonly ended: Promise<void>
}

export interface StartedChild {
  stop(graceMs: number): void
  pause(): void
  resume(): void
}

/** `lifeline` is the file that says how long its processes may live. */
export async function startLauncher(
  lifeline: number,
  options: LauncherOptions = {},
): Promise<Launcher> {
  const { programs, why, notes } = await programsFor(options)
  const reasons = [...why]
  for (const { kind, command } of programs) {
    try {
      const connection = new LauncherConnection(spawnLauncher(command, lifeline), kind, notes)
      await connection.awaitReady(reasons)
      return connection
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error))
    }
  }
  throw new Error(reasons.join('; '))
}

function spawnLauncher([file = '', ...args]: readonly string[], lifeline: number): ChildProcess {
  return spawn(file, args, {
    stdio: ['pipe', 'ignore', 'inherit', lifeline, 'pipe'],
    // Processes must not see the worker's environment; what they get travels with each order.
    env: { PATH: process.env['PATH'] ?? '' },
    // A process group of its own: a signal to the worker's group is for the worker alone.
    detached: true,
  })
}

type Pipes = [orders: Writable, null, null, null, reports: Socket]

class LauncherConnection implements Launcher {
  /** Set when the launcher is ready. */
  abilities!: Abilities
  readonly ended: Promise<void>
  readonly #process: ChildProcess
  readonly #kind: Abilities['kind']
  /** Where the launcher records its running processes. */
  readonly #notes: string
  readonly #orders: Writable
  readonly #children = new Map<number, ChildEvents>()
  readonly #ready = Promise.withResolvers<Abilities>()
  readonly #end = Promise.withResolvers<void>()
  #next = 1
  #hasEnded = false

  constructor(launcher: ChildProcess, kind: Abilities['kind'], notes: string) {
    this.#process = launcher
    this.#kind = kind
    this.#notes = notes
    this.ended = this.#end.promise
    // Without a free descriptor there are no pipes; the spawn error is emitted a moment later.
    const [orders, , , , reports] = (launcher.stdio ?? []) as unknown as Pipes
    this.#orders = orders
    launcher.once('error', (error) => this.#onExit(error))
    // `close` instead of `exit`: the last reports are read first.
    launcher.once('close', () => this.#onExit())
    for (const pipe of [orders, reports]) pipe?.on('error', () => {})
    if (reports) this.#readReports(reports)
    // The launcher must not keep an otherwise idle worker alive.
    launcher.unref()
  }

  /** Rejects if the launcher cannot be used. `reasons` say why better programs were not used. */
  async awaitReady(reasons: readonly string[]): Promise<void> {
    const own = await this.#ready.promise
    this.abilities = { ...own, why: [...reasons, own.why].filter(Boolean).join('; ') }
  }

  get pid(): number {
    return this.#process.pid as number
  }

  get load(): number {
    return this.#children.size
  }

  start(input: StartInput, events: ChildEvents): StartedChild {
    const child = this.#next
    this.#next = child === LAST_CHILD_NUMBER ? 1 : child + 1
    this.#children.set(child, events)
    // The attempts of the other processes have already received `onAbandoned`.
    if (this.#hasEnded) queueMicrotask(() => this.#remove(child)?.onAbandoned())
    this.sendOrder({ order: 'start', child, ...input })
    return new LauncherChild(this, child)
  }

  /** Orders of one turn are written together: every write wakes up a process. */
  sendOrder(order: LauncherOrder): void {
    const orders = this.#orders
    if (orders.writableCorked === 0) {
      orders.cork()
      process.nextTick(() => orders.uncork())
    }
    orders.write(orderFrame(order))
  }

  close(): void {
    this.#orders.end()
    // A caller that waits for the end keeps the process alive until then.
    this.#process.ref()
    // A launcher that does not react is killed; its processes are killed when its end is noticed.
    const late = setTimeout(() => this.#process.kill('SIGKILL'), CLOSE_MS).unref()
    void this.ended.then(() => clearTimeout(late))
  }

  #readReports(reports: Socket): void {
    const readFrames = createFrameReader(
      (number, content) => this.#handleReport(readReport(number, content, this.#kind)),
      OUTPUT_FRAMES,
    )
    const collectWaste = createBufferCollector()
    reports.on('data', (piece: Buffer) => {
      readFrames(piece)
      collectWaste(piece.length)
    })
  }

  #handleReport(report: LauncherReport): void {
    switch (report.report) {
      case 'ready':
        return this.#ready.resolve(report.abilities)
      case 'refused':
        return this.#ready.reject(new Error(report.message))
      case 'output':
        return this.#children.get(report.child)?.onOutput(report)
      case 'unstartable':
        return this.#remove(report.child)?.onUnstartable(report.message)
      case 'ended':
        return this.#remove(report.child)?.onEnd(report.code, report.signal, report.details)
    }
  }

  #remove(child: number): ChildEvents | undefined {
    const events = this.#children.get(child)
    this.#children.delete(child)
    return events
  }

  #onExit(error?: unknown): void {
    this.#hasEnded = true
    this.#ready.reject(error ?? new Error('a launcher ended before it was ready'))
    const { pid } = this.#process
    // Kill first: once an attempt is reported as lost, the server lets it start elsewhere.
    if (this.#children.size > 0 && pid !== undefined) killLeftoversOf(pid, this.#notes)
    for (const child of [...this.#children.keys()]) this.#remove(child)?.onAbandoned()
    this.#end.resolve()
  }
}

class LauncherChild implements StartedChild {
  readonly #launcher: LauncherConnection
  readonly #child: number

  constructor(launcher: LauncherConnection, child: number) {
    this.#launcher = launcher
    this.#child = child
  }

  stop(graceMs: number): void {
    this.#launcher.sendOrder({ order: 'stop', child: this.#child, graceMs })
  }

  pause(): void {
    this.#launcher.sendOrder({ order: 'pause', child: this.#child })
  }

  resume(): void {
    this.#launcher.sendOrder({ order: 'resume', child: this.#child })
  }
}
