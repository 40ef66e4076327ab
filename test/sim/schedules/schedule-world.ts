import type { Database } from 'better-sqlite3'
import type { Clock } from '../../../src/core/clock.ts'
import { publicId } from '../../../src/core/ids.ts'
import type { ScheduleAdmin } from '../../../src/server/admin/schedules.ts'
import { DEFAULT_CONFIG } from '../../../src/server/cluster/config.ts'
import type { Store } from '../../../src/store/port.ts'
import {
  openEngine,
  createStoreOnEngine,
  type SqliteEngine,
} from '../../../src/store/sqlite/store.ts'
import { createSeeded, type Seeded } from '../seeded.ts'
import { type SimNode, startSimNode } from '../sim-node.ts'
import { createStoreLink } from '../store-link.ts'
import { createVirtualTime, type Actor, type VirtualTime } from '../virtual-time.ts'
import { createStartInvariant } from './start-invariant.ts'
import { createScheduleInvariants } from './schedule-invariants.ts'
import { startScheduleWorker } from './schedule-worker.ts'

/** A scheduler bug planted from outside. */
export interface ScheduleBug {
  readonly name: string
  /** The first seed `npm test` tries, for a bug that few seeds notice. `npm run sim -- --bugs` starts with 1. */
  readonly firstSeed?: number
  store?(original: Store, db: Database): Store
  clock?(original: Clock): Clock
}

/**
 * Nodes that fire the schedules of one store whose clock is set now and then. Without workers, runs end by
 * being cancelled.
 */
export interface ScheduleWorld {
  readonly seeded: Seeded
  readonly time: VirtualTime
  readonly engine: SqliteEngine
  readonly storeActor: Actor
  readonly nodes: SimNode[]
  readonly workers: Actor[]
  readonly violations: string[]
  /** Names of all schedules ever requested. */
  readonly names: string[]
  startNode(): void
  startWorker(): void
  /** A user sends a request to a node and may never get the answer. */
  ask(request: (schedules: ScheduleAdmin) => Promise<unknown>): void
  /** Cancels a random open run. */
  endRun(): void
  check(isOver?: boolean): void
  close(): void
}

export const SIM_SCHEDULE_JOB = 'plain-1'
export const SIM_SCHEDULE_CALLER = { project: 'default', actor: null, request: null, address: null }

export function createScheduleWorld(seed: number, bug?: ScheduleBug): ScheduleWorld {
  const seeded = createSeeded(seed)
  const time = createVirtualTime(seeded)
  const storeActor = time.actor('store')
  const storeClock = time.clockOf(storeActor)
  const { now } = storeClock
  const engine = openEngine({ path: ':memory:', exclusive: false, now })
  const original = createStoreOnEngine(engine)
  const violations: string[] = []
  const violate = (invariant: string, detail: string) => violations.push(`${invariant}: ${detail}`)
  const starts = createStartInvariant({ realMs: () => time.nowMs, violate })
  const watched = starts.watch(original)
  const shared = bug?.store ? bug.store(watched, engine.raw) : watched
  const invariants = createScheduleInvariants(engine.raw, {
    now,
    violate,
    skewMs: () => storeActor.wallSkewMs,
    realMs: () => time.nowMs,
  })
  const nodes: SimNode[] = []
  const workers: Actor[] = []
  const open = engine.raw
    .prepare<[], number>('SELECT id FROM run WHERE status < 4 ORDER BY id LIMIT 20')
    .pluck()
  let lastNumber = 0

  const anyNode = () => {
    const up = nodes.filter(({ actor, node }) => node && actor.frozenUntilMs <= time.nowMs)
    return up.length > 0 ? seeded.pick(up) : undefined
  }

  return {
    seeded,
    time,
    engine,
    storeActor,
    nodes,
    workers,
    violations,
    names: [],

    startNode() {
      lastNumber += 1
      const actor = time.actor(`node-${lastNumber}`)
      const link = createStoreLink({
        shared,
        time,
        seeded,
        actor,
        tickCap: 20,
        onAnswer: () => {},
      })
      const own = time.clockOf(actor)
      const clock = bug?.clock ? bug.clock(own) : own
      nodes.push(startSimNode({ actor, link, clock, seeded, config: DEFAULT_CONFIG }))
    },

    startWorker() {
      lastNumber += 1
      const actor = time.actor(`worker-${lastNumber}`)
      const onStart = ({ runId }: { runId: string }) => starts.started(runId)
      startScheduleWorker({ job: SIM_SCHEDULE_JOB, actor, time, seeded, nodes, onStart })
      workers.push(actor)
    },

    ask(request) {
      const sim = anyNode()
      if (!sim?.node) return
      const { schedules } = sim.node.admin
      time.after(sim.actor, seeded.int(5), () => void request(schedules).catch(() => {}))
    },

    endRun() {
      const runs = open.all()
      const sim = anyNode()
      if (runs.length === 0 || !sim?.node) return
      const client = sim.node.clientFor('default')
      const run = publicId('run', seeded.pick(runs))
      time.after(sim.actor, 1, () => void client.cancel(run).catch(() => {}))
    },

    check: (isOver = false) => invariants.check(isOver),
    close: () => engine.close(),
  }
}
