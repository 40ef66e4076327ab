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
      return await connect(spawnLauncher(command, lifeline), { kind, reasons, notes })
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

interface LauncherProcess {
  readonly kind: Abilities['kind']
  /** Why better programs were not used. */
  readonly reasons: readonly string[]
  /** Where the launcher records its running processes. */
  readonly notes: string
}

type Pipes = [orders: Writable, null, null, null, reports: Socket]

/** Resolves when the launcher is ready. */
async function connect(
  launcher: ChildProcess,
  { kind, reasons, notes }: LauncherProcess,
): Promise<Launcher> {
  // Without a free descriptor there are no pipes; the spawn error is emitted a moment later.
  const [orders, , , , reports] = (launcher.stdio ?? []) as unknown as Pipes
  const children = new Map<number, ChildEvents>()
  const ready = Promise.withResolvers<Abilities>()
  const ended = Promise.withResolvers<void>()
  let next = 1
  let hasEnded = false

  // Orders of one turn are written together: every write wakes up a process.
  const sendOrder = (order: LauncherOrder) => {
    if (orders.writableCorked === 0) {
      orders.cork()
      process.nextTick(() => orders.uncork())
    }
    orders.write(orderFrame(order))
  }
  const finish = (child: number, notify: (events: ChildEvents) => void) => {
    const events = children.get(child)
    children.delete(child)
    if (events) notify(events)
  }
  const handleReport = (report: LauncherReport) => {
    switch (report.report) {
      case 'ready':
        return ready.resolve(report.abilities)
      case 'refused':
        return ready.reject(new Error(report.message))
      case 'output':
        return children.get(report.child)?.onOutput(report)
      case 'unstartable':
        return finish(report.child, (events) => events.onUnstartable(report.message))
      case 'ended':
        return finish(report.child, (events) =>
          events.onEnd(report.code, report.signal, report.details),
        )
    }
  }
  const end = (error?: unknown) => {
    hasEnded = true
    ready.reject(error ?? new Error('a launcher ended before it was ready'))
    // Kill first: once an attempt is reported as lost, the server lets it start elsewhere.
    if (children.size > 0 && launcher.pid !== undefined) killLeftoversOf(launcher.pid, notes)
    for (const child of [...children.keys()]) finish(child, (events) => events.onAbandoned())
    ended.resolve()
  }
  launcher.once('error', end)
  // `close` instead of `exit`: the last reports are read first.
  launcher.once('close', () => end())
  for (const pipe of [orders, reports]) pipe?.on('error', () => {})
  const readFrames = createFrameReader(
    (number, content) => handleReport(readReport(number, content, kind)),
    OUTPUT_FRAMES,
  )
  const collectWaste = createBufferCollector()
  reports?.on('data', (piece: Buffer) => {
    readFrames(piece)
    collectWaste(piece.length)
  })
  // The launcher must not keep an otherwise idle worker alive.
  launcher.unref()

  const own = await ready.promise
  const abilities = { ...own, why: [...reasons, own.why].filter(Boolean).join('; ') }
  const pid = launcher.pid as number

  return {
    pid,
    abilities,
    get load() {
      return children.size
    },
    start(input, events) {
      const child = next
      next = next === LAST_CHILD_NUMBER ? 1 : next + 1
      children.set(child, events)
      // The attempts of the other processes have already received `onAbandoned`.
      if (hasEnded) queueMicrotask(() => finish(child, (one) => one.onAbandoned()))
      sendOrder({ order: 'start', child, ...input })
      return {
        stop: (graceMs) => sendOrder({ order: 'stop', child, graceMs }),
        pause: () => sendOrder({ order: 'pause', child }),
        resume: () => sendOrder({ order: 'resume', child }),
      }
    },
    close() {
      orders.end()
      // A caller that waits for the end keeps the process alive until then.
      launcher.ref()
      // A launcher that does not react is killed; its processes are killed when its end is noticed.
      const late = setTimeout(() => launcher.kill('SIGKILL'), CLOSE_MS).unref()
      void ended.promise.then(() => clearTimeout(late))
    },
    ended: ended.promise,
  }
}
