import type { Database } from 'better-sqlite3'
import type { Clock } from '../../../src/core/clock.ts'
import { publicId } from '../../../src/core/ids.ts'
import type { Schedules } from '../../../src/server/admin/schedules.ts'
import { DEFAULT_CONFIG } from '../../../src/server/cluster/config.ts'
import type { Store } from '../../../src/store/port.ts'
import { openEngine, storeOn, type Engine } from '../../../src/store/sqlite/store.ts'
import { createSeeded, type Seeded } from '../seeded.ts'
import { type SimNode, startSimNode } from '../sim-node.ts'
import { createStoreLink } from '../store-link.ts'
import { createVirtualTime, type Actor, type VirtualTime } from '../virtual-time.ts'
import { createStartLaw } from './start-invariant.ts'
import { createTimeLaws } from './schedule-invariants.ts'
import { startTimeWorker } from './schedule-worker.ts'

/** A bug of schedulers, planted from outside. */
export interface TimeBug {
  readonly name: string
  store?(honest: Store, db: Database): Store
  clock?(honest: Clock): Clock
}

/** Nodes that fire schedules of one store whose clock is set now and then. Where nobody works, runs end by being cancelled. */
export interface TimeWorld {
  readonly seeded: Seeded
  readonly time: VirtualTime
  readonly engine: Engine
  readonly storeActor: Actor
  readonly nodes: SimNode[]
  readonly workers: Actor[]
  readonly violations: string[]
  /** Names of schedules that were ever asked for. */
  readonly names: string[]
  startNode(): void
  startWorker(): void
  /** Somebody asks a node for something, and may never hear what became of it. */
  ask(request: (schedules: Schedules) => Promise<unknown>): void
  /** Some run that has not ended does. */
  endRun(): void
  check(isOver?: boolean): void
  close(): void
}

export const JOB = 'plain-1'
export const BY = { project: 'default', actor: null, request: null, address: null }

export function createTimeWorld(seed: number, bug?: TimeBug): TimeWorld {
  const seeded = createSeeded(seed)
  const time = createVirtualTime(seeded)
  const storeActor = time.actor('store')
  const storeClock = time.clockOf(storeActor)
  const { now } = storeClock
  const engine = openEngine({ path: ':memory:', exclusive: false, now })
  const honest = storeOn(engine)
  const violations: string[] = []
  const violate = (law: string, detail: string) => violations.push(`${law}: ${detail}`)
  const starts = createStartLaw({ now, realMs: () => time.nowMs, violate })
  const watched = starts.watch(honest)
  const shared = bug?.store ? bug.store(watched, engine.raw) : watched
  const laws = createTimeLaws(engine.raw, {
    now,
    violate,
    skewMs: () => storeActor.wallSkewMs,
  })
  const nodes: SimNode[] = []
  const workers: Actor[] = []
  const open = engine.raw
    .prepare<[], number>('SELECT id FROM run WHERE status < 4 ORDER BY id LIMIT 20')
    .pluck()
  let named = 0

  const anyNode = () => {
    const up = nodes.filter(({ actor, node }) => node && actor.frozenUntilMs <= time.nowMs)
    return up.length > 0 ? seeded.pick(up) : undefined
  }

  return {
    ...{ seeded, time, engine, storeActor, nodes, workers, violations, names: [] },

    startNode() {
      named += 1
      const actor = time.actor(`node-${named}`)
      const link = createStoreLink({
        ...{ shared, time, seeded, actor, tickCap: 20, onAnswer: () => {} },
      })
      const own = time.clockOf(actor)
      const clock = bug?.clock ? bug.clock(own) : own
      nodes.push(startSimNode({ actor, link, clock, seeded, config: DEFAULT_CONFIG }))
    },

    startWorker() {
      named += 1
      const actor = time.actor(`worker-${named}`)
      const onStart = ({ runId }: { runId: string }) => starts.started(runId)
      startTimeWorker({ job: JOB, actor, time, seeded, nodes, onStart })
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

    check: (isOver = false) => laws.check(isOver),
    close: () => engine.close(),
  }
}
