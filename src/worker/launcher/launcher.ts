import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { createFrameReader, messageFrame, type Output } from './frames.ts'
import type { Abilities, Containment, EndDetails, Order, Report, StartOrder } from './messages.ts'

/** Started as source in development and compiled in the package: next to this file either way. */
const MAIN = fileURLToPath(new URL(`./main${import.meta.url.slice(-3)}`, import.meta.url))

/** Ending everything and itself takes a launcher milliseconds. */
const CLOSE_MS = 5_000

/**
 * A fork copies the tables of all its memory and interrupts every core its threads have run on: a small
 * process with one thread starts others a tenth faster.
 */
const SMALL = ['--single-threaded', '--max-semi-space-size=1']

export interface ChildEvents {
  onOutput(output: Output): void
  onUnstartable(message: string): void
  onEnd(code: number | null, signal: string | null, details: EndDetails): void
  /** The launcher is gone and did not say how this one ended: it must be assumed dead, or made so. */
  onAbandoned(): void
}

export type StartInput = Omit<StartOrder, 'order' | 'child'>

export interface LauncherOptions {
  /** The native launcher where there is one for this machine, unless said otherwise. */
  readonly kind?: 'native' | 'node' | 'auto' | undefined
  /** The strongest that works here, unless said otherwise; one that does not work is an error. */
  readonly containment?: Containment | 'auto' | undefined
}

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
  { kind = 'auto', containment = 'auto' }: LauncherOptions = {},
): Promise<Launcher> {
  if (kind === 'native') throw new Error('there is no native launcher for this machine')
  if (containment !== 'auto' && containment !== 'group') {
    throw new Error(`the containment ${containment} needs the native launcher`)
  }
  const launcher = spawn(process.execPath, [...SMALL, MAIN], {
    stdio: ['pipe', 'ignore', 'inherit', lifeline, 'pipe'],
    // Nothing of ours is for its processes to see; what they get travels with each order.
    env: { PATH: process.env['PATH'] ?? '' },
    // Apart from the worker's group: a signal to that group is for the worker alone.
    detached: true,
  })
  const [orders, , , , reports] = launcher.stdio as unknown as [Writable, null, null, null, Socket]
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
    orders.write(messageFrame(order))
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
      case 'unstartable':
        return finish(report.child, (events) => events.onUnstartable(report.message))
      case 'ended':
        return finish(report.child, ({ onEnd }) =>
          onEnd(report.code, report.signal, report.details),
        )
    }
  }
  reports.on(
    'data',
    createFrameReader({
      message: (report) => hear(report as Report),
      output: (output) => children.get(output.child)?.onOutput(output),
    }),
  )
  const end = (error?: unknown) => {
    isGone = true
    ready.reject(error ?? new Error('a launcher ended before it was ready'))
    for (const child of [...children.keys()]) finish(child, (events) => events.onAbandoned())
    gone.resolve()
  }
  launcher.once('error', end)
  // `close` and not `exit`: what it reported last is read first.
  launcher.once('close', () => end())
  for (const pipe of [orders, reports]) pipe.on('error', () => {})
  // It must not keep a worker alive that has nothing else to do.
  launcher.unref()

  const abilities = await ready.promise
  const pid = launcher.pid as number

  return {
    pid,
    abilities,
    get load() {
      return children.size
    },
    start(input, events) {
      const child = next
      next += 1
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
