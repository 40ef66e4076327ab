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
  type Order,
  type Report,
  type StartOrder,
} from '../messages.ts'

/** Node can ask the kernel for none of its help. */
const ABILITIES: Abilities = {
  kind: 'node',
  containment: 'group',
  limits: [],
  canSwitchUser: false,
  why: 'the native launcher is not used, and only it can do more',
}

/**
 * A launcher: a small process that starts the processes of a worker and answers for them. Small,
 * because starting a process costs more the more memory its parent has; and apart, because it must
 * outlive a worker that is killed or frozen by just long enough to end what that worker started.
 */
const children = new Map<number, Child>()
const sweep = createSweeper()
const notes = keepNotes(process.argv[2] ?? '')
const isLifelineHeld = watchLifeline(DESCRIPTORS.lifeline, endEverything)
// Not standard output, whose writes may block: a worker that does not read must not stop us.
const reports = new Socket({ fd: DESCRIPTORS.reports })

const readOrders = createFrameReader((kind, content) => obey(readOrder(kind, content)))
new Socket({ fd: DESCRIPTORS.orders }).on('data', readOrders).on('end', leave).on('error', leave)
reports.on('error', leave)
reports.on('drain', () => {
  for (const child of children.values()) child.letPrint(true)
})
// Signals to a terminal's group are for the worker to interpret, which then tells us.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

report({ report: 'ready', abilities: ABILITIES })

function obey(order: Order): void {
  if (order.order === 'start') return start(order)
  const child = children.get(order.child)
  if (order.order === 'stop') child?.stop(order.graceMs)
  else child?.read(order.order === 'resume')
}

function start(order: StartOrder): void {
  const { child } = order
  if (!isLifelineHeld()) {
    report({ report: 'unstartable', child, message: 'the lease had run out' })
    return
  }
  const beyond = whatIsBeyondUs(order)
  if (beyond) return report({ report: 'unstartable', child, message: beyond })
  const startedMono = performance.now()
  let forget = () => {}
  const over = (message: Report) => {
    forget()
    children.delete(child)
    report(message)
  }
  const one = new Child(order, {
    sweep,
    onOutput(stream, bytes) {
      const ms = performance.now() - startedMono
      const frame = reportFrame({ report: 'output', child, stream, ms, bytes })
      if (!reports.write(frame)) holdEverybody()
    },
    onUnstartable: (message) => over({ report: 'unstartable', child, message }),
    onEnd: (code, signal, cause) => {
      const details = { containment: ABILITIES.containment, ...cause }
      over({ report: 'ended', child, code, signal, details })
    },
  })
  children.set(child, one)
  if (!one.tree) return
  try {
    forget = notes.add(one.tree.leader, one.tree.mark)
  } catch (error) {
    one.disown(`its start cannot be noted: ${(error as Error).message}`)
  }
}

/** Better not started than started without the bounds that somebody counts on. */
function whatIsBeyondUs({ user, limits }: StartOrder): string | undefined {
  const wish = user ? 'another user' : hasAny(limits) ? 'limits' : undefined
  return wish && `${wish} can only be had with the native launcher, which this worker does not use`
}

function hasAny(limits: Limits = {}): boolean {
  return Object.values(limits).some((limit) => limit !== undefined)
}

/** Until the worker has taken what there is: what processes print waits with them, not with us. */
function holdEverybody(): void {
  for (const child of children.values()) child.letPrint(false)
}

/** What is to be said in one turn travels together: every write by itself is a worker to wake up. */
function report(message: Report): void {
  if (reports.writableCorked === 0) {
    reports.cork()
    setImmediate(() => reports.uncork())
  }
  reports.write(reportFrame(message))
}

function endEverything(): void {
  killTrees([...children.values()].flatMap((child) => child.lapse()))
}

/** The worker is gone, so nobody is left who could want anything. */
function leave(): void {
  endEverything()
  notes.close()
  process.exit(0)
}
