import { spawn } from 'node:child_process'
import { writeSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { createFrameReader, messageFrame, type Output } from './frames.ts'
import { lifelineMessage } from './lifeline.ts'
import type { Order, Report, StartOrder } from './messages.ts'

/** Started as source in development and compiled in the package: next to this file either way. */
const MAIN = fileURLToPath(new URL(`./main${import.meta.url.slice(-3)}`, import.meta.url))

export interface ChildEvents {
  onOutput(output: Output): void
  onUnstartable(message: string): void
  onEnd(code: number | null, signal: string | null): void
  /** The launcher is gone and did not say how this one ended: it must be assumed dead, or made so. */
  onAbandoned(): void
}

export type StartInput = Omit<StartOrder, 'order' | 'child' | 'until'>

/** A worker's hold on one launcher process. */
export interface Launcher {
  /** Processes it has under way. */
  readonly load: number
  readonly pid: number
  start(input: StartInput, events: ChildEvents): StartedChild
  /** Its processes may live until this instant of the machine's monotonic clock, in nanoseconds. */
  renew(untilMono: bigint): void
  /** For a thread that writes to it by itself. */
  readonly lifeline: number
  /** Lets it go; whatever it still has under way is killed. */
  close(): void
  readonly gone: Promise<void>
}

export interface StartedChild {
  stop(graceMs: number): void
  pause(): void
  resume(): void
}

export async function startLauncher(): Promise<Launcher> {
  const launcher = spawn(process.execPath, [MAIN], {
    stdio: ['pipe', 'ignore', 'inherit', 'pipe', 'pipe'],
    // Nothing of ours is for its processes to see; what they get travels with each order.
    env: { PATH: process.env['PATH'] ?? '' },
    // Apart from the worker's group: a signal to that group is for the worker alone.
    detached: true,
  })
  const [orders, , , lifeline, reports] = launcher.stdio as unknown as [
    Writable,
    null,
    null,
    Socket,
    Socket,
  ]
  const children = new Map<number, ChildEvents>()
  const ready = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<void>()
  let next = 1
  let until = 0n
  let isGone = false

  const obey = (order: Order) => void orders.write(messageFrame(order))
  const finish = (child: number, tell: (events: ChildEvents) => void) => {
    const events = children.get(child)
    children.delete(child)
    if (events) tell(events)
  }
  const hear = (report: Report) => {
    switch (report.report) {
      case 'ready':
        return ready.resolve()
      case 'unstartable':
        return finish(report.child, (events) => events.onUnstartable(report.message))
      case 'ended':
        return finish(report.child, (events) => events.onEnd(report.code, report.signal))
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
  for (const pipe of [orders, lifeline, reports]) pipe.on('error', () => {})
  // It must not keep a worker alive that has nothing else to do.
  launcher.unref()

  await ready.promise
  const pid = launcher.pid as number
  // The only way to the number of a pipe that `spawn` has made.
  const fd = (lifeline as unknown as { _handle: { fd: number } })._handle.fd

  return {
    pid,
    get load() {
      return children.size
    },
    start(input, events) {
      const child = next
      next += 1
      children.set(child, events)
      // Its death has been told to everybody else by now.
      if (isGone) queueMicrotask(() => finish(child, (one) => one.onAbandoned()))
      obey({ order: 'start', child, until: String(until), ...input })
      return {
        stop: (graceMs) => obey({ order: 'stop', child, graceMs }),
        pause: () => obey({ order: 'pause', child }),
        resume: () => obey({ order: 'resume', child }),
      }
    },
    lifeline: fd,
    renew(untilMono) {
      until = untilMono
      writeLifeline(fd, untilMono)
    },
    close: () => orders.end(),
    gone: gone.promise,
  }
}

/** Also from other threads: a descriptor is the process's, whoever writes to it. */
export function writeLifeline(fd: number, untilMono: bigint): void {
  try {
    writeSync(fd, lifelineMessage(untilMono))
  } catch {
    // Gone, or so far behind that its pipe is full: either way its processes end when time is up.
  }
}
