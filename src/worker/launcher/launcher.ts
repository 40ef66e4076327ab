import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { createFrameReader } from './frames.ts'
import { type LauncherOptions, programsFor } from './launcher-programs.ts'
import { killLeftoversOf } from './leftovers.ts'
import type { Abilities, EndDetails, Order, Output, Report, StartOrder } from './messages.ts'
import { orderFrame } from './order-frames.ts'
import { createWasteCollector } from './buffer-collector.ts'
import { OUTPUT_FRAMES, readReport } from './report-frames.ts'

export type { LauncherOptions } from './launcher-programs.ts'

/** Children are numbered, and numbers have an end. */
const LAST = 2 ** 32 - 1

/** Ending everything and itself takes a launcher milliseconds. */
const CLOSE_MS = 10_000

export interface ChildEvents {
  onOutput(output: Output): void
  onUnstartable(message: string): void
  onEnd(code: number | null, signal: string | null, details: EndDetails): void
  /** The launcher is gone and did not say how this one ended: it must be assumed dead, or made so. */
  onAbandoned(): void
}

export type StartInput = Omit<StartOrder, 'order' | 'child'>

/** A worker's hold on one launcher process. */
export interface Launcher {
  /** Processes it has under way. */
  readonly load: number
  readonly pid: number
  readonly abilities: Abilities
  start(input: StartInput, events: ChildEvents): StartedChild
  /** Lets it go; whatever it still has under way is killed. */
  close(): void
  readonly gone: Promise<void>
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
      return await hold(spawnLauncher(command, lifeline), { kind, reasons, notes })
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error))
    }
  }
  throw new Error(reasons.join('; '))
}

function spawnLauncher([file = '', ...args]: readonly string[], lifeline: number): ChildProcess {
  return spawn(file, args, {
    stdio: ['pipe', 'ignore', 'inherit', lifeline, 'pipe'],
    // Nothing of ours is for its processes to see; what they get travels with each order.
    env: { PATH: process.env['PATH'] ?? '' },
    // Apart from the worker's group: a signal to that group is for the worker alone.
    detached: true,
  })
}

interface Held {
  readonly kind: Abilities['kind']
  /** Why it is this one and none that could do more. */
  readonly reasons: readonly string[]
  /** Where it notes what it has under way. */
  readonly notes: string
}

type Pipes = [orders: Writable, null, null, null, reports: Socket]

/** Resolves when it is ready. */
async function hold(launcher: ChildProcess, { kind, reasons, notes }: Held): Promise<Launcher> {
  // Without a descriptor left there are no pipes; that it could not be started is told a moment later.
  const [orders, , , , reports] = (launcher.stdio ?? []) as unknown as Pipes
  const children = new Map<number, ChildEvents>()
  const ready = Promise.withResolvers<Abilities>()
  const gone = Promise.withResolvers<void>()
  let next = 1
  let isGone = false

  // Orders of one turn travel together: every write by itself is a process to wake up.
  const obey = (order: Order) => {
    if (orders.writableCorked === 0) {
      orders.cork()
      process.nextTick(() => orders.uncork())
    }
    orders.write(orderFrame(order))
  }
  const finish = (child: number, tell: (events: ChildEvents) => void) => {
    const events = children.get(child)
    children.delete(child)
    if (events) tell(events)
  }
  const hear = (report: Report) => {
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
    isGone = true
    ready.reject(error ?? new Error('a launcher ended before it was ready'))
    // First: whoever is told that its process is lost lets it be started elsewhere.
    if (children.size > 0 && launcher.pid !== undefined) killLeftoversOf(launcher.pid, notes)
    for (const child of [...children.keys()]) finish(child, (events) => events.onAbandoned())
    gone.resolve()
  }
  launcher.once('error', end)
  // `close` and not `exit`: what it reported last is read first.
  launcher.once('close', () => end())
  for (const pipe of [orders, reports]) pipe?.on('error', () => {})
  const readFrames = createFrameReader(
    (number, content) => hear(readReport(number, content, kind)),
    OUTPUT_FRAMES,
  )
  const collectWaste = createWasteCollector()
  reports?.on('data', (piece: Buffer) => {
    readFrames(piece)
    collectWaste(piece.length)
  })
  // It must not keep a worker alive that has nothing else to do.
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
      next = next === LAST ? 1 : next + 1
      children.set(child, events)
      // Its death has been told to everybody else by now.
      if (isGone) queueMicrotask(() => finish(child, (one) => one.onAbandoned()))
      obey({ order: 'start', child, ...input })
      return {
        stop: (graceMs) => obey({ order: 'stop', child, graceMs }),
        pause: () => obey({ order: 'pause', child }),
        resume: () => obey({ order: 'resume', child }),
      }
    },
    close() {
      orders.end()
      // Whoever waits for its end must be there when it comes.
      launcher.ref()
      // One that does not hear is killed; whoever has something under way there ends it by itself.
      const late = setTimeout(() => launcher.kill('SIGKILL'), CLOSE_MS).unref()
      void gone.promise.then(() => clearTimeout(late))
    },
    gone: gone.promise,
  }
}
