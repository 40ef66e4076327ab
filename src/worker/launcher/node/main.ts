import { Socket } from 'node:net'
import { Child } from './child.ts'
import { createFrameReader } from '../frames.ts'
import { watchLifeline } from '../lifeline.ts'
import { keepNotes } from './note-keeper.ts'
import { createSweeper } from './sweeper.ts'
import { killTrees } from '../process-tree.ts'
import { readOrder } from '../order-frames.ts'
import { reportFrame } from '../report-frames.ts'
import {
  type Abilities,
  DESCRIPTORS,
  type Limits,
  type LauncherOrder,
  type LauncherReport,
  type StartOrder,
} from '../messages.ts'

/** Node has no access to the kernel's features for containment. */
const ABILITIES: Abilities = {
  kind: 'node',
  containment: 'group',
  limits: [],
  canSwitchUser: false,
  holdsLock: false,
  hidesFiles: false,
  why: 'the native launcher is not used, and only it supports more',
}

/**
 * A launcher: a small process that starts the processes of a worker and is responsible for them.
 * Small, because starting a process costs more the more memory its parent has; separate, because it
 * must outlive a killed or frozen worker just long enough to end that worker's processes.
 */
const children = new Map<number, Child>()
const sweep = createSweeper()
const notes = keepNotes(process.argv[2] ?? '')
const isLifelineHeld = watchLifeline(DESCRIPTORS.lifeline, endEverything)
// Not standard output, whose writes may block: a worker that does not read must not stop the
// launcher.
const reports = new Socket({ fd: DESCRIPTORS.reports })

const readOrders = createFrameReader((kind, content) => obey(readOrder(kind, content)))
new Socket({ fd: DESCRIPTORS.orders }).on('data', readOrders).on('end', leave).on('error', leave)
reports.on('error', leave)
reports.on('drain', () => {
  for (const child of children.values()) child.setOutputCapacity(true)
})
// The worker handles signals to the terminal's group, and sends orders to the launcher.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

report({ report: 'ready', abilities: ABILITIES })

function obey(order: LauncherOrder): void {
  if (order.order === 'start') return start(order)
  const child = children.get(order.child)
  if (order.order === 'stop') child?.stop(order.graceMs)
  else child?.read(order.order === 'resume')
}

function start(order: StartOrder): void {
  const { child } = order
  if (!isLifelineHeld()) {
    report({ report: 'unstartable', child, message: 'the lease has expired' })
    return
  }
  const unsupported = unsupportedIn(order)
  if (unsupported) return report({ report: 'unstartable', child, message: unsupported })
  const startedMono = performance.now()
  let removeChild = () => {}
  const finish = (message: LauncherReport) => {
    removeChild()
    children.delete(child)
    report(message)
  }
  const started = new Child(order, {
    sweep,
    onOutput(stream, bytes) {
      const ms = performance.now() - startedMono
      const frame = reportFrame({ report: 'output', child, stream, ms, bytes })
      if (!reports.write(frame)) pauseAllOutput()
    },
    onUnstartable: (message) => finish({ report: 'unstartable', child, message }),
    onEnd: (code, signal, cause) => {
      const details = { containment: ABILITIES.containment, ...cause }
      finish({ report: 'ended', child, code, signal, details })
    },
  })
  children.set(child, started)
  if (!started.tree) return
  try {
    removeChild = notes.add(started.tree.leader, started.tree.mark)
  } catch (error) {
    started.killUnrecorded(`its start cannot be recorded: ${(error as Error).message}`)
  }
}

/** Refuses an order whose user or limits it cannot provide. */
function unsupportedIn({ user, limits }: StartOrder): string | undefined {
  const feature = user ? 'another user' : hasAny(limits) ? 'limits' : undefined
  return (
    feature && `${feature} can only be had with the native launcher, which this worker does not use`
  )
}

function hasAny(limits: Limits = {}): boolean {
  return Object.values(limits).some((limit) => limit !== undefined)
}

/**
 * Stops reading all output until the worker has read the pending reports, so that processes block
 * instead of filling the launcher's memory.
 */
function pauseAllOutput(): void {
  for (const child of children.values()) child.setOutputCapacity(false)
}

/** Reports of one turn are written together: every write wakes up the worker. */
function report(message: LauncherReport): void {
  if (reports.writableCorked === 0) {
    reports.cork()
    setImmediate(() => reports.uncork())
  }
  reports.write(reportFrame(message))
}

function endEverything(): void {
  killTrees([...children.values()].flatMap((child) => child.expire()))
}

/** The worker is gone: kill everything and exit. */
function leave(): void {
  endEverything()
  for (const child of children.values()) child.deleteFiles()
  notes.close()
  process.exit(0)
}
