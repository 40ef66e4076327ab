import type { Database } from 'better-sqlite3'
import { createRowBlobs } from '../../../src/blobs/store/blobs.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { publicId } from '../../../src/core/ids.ts'
import type { Schedules } from '../../../src/server/admin/schedules.ts'
import { DEFAULT_CONFIG } from '../../../src/server/config.ts'
import { startNode } from '../../../src/server/node.ts'
import type { Store } from '../../../src/store/port.ts'
import { openEngine, storeOn, type Engine } from '../../../src/store/sqlite/store.ts'
import { createSeeded, type Seeded } from '../seeded.ts'
import { createStoreLink } from '../store-link.ts'
import { createVirtualTime, type Actor, type VirtualTime } from '../virtual-time.ts'
import type { SimNode } from '../world.ts'
import { createTimeLaws } from './time-laws.ts'

/** A bug of schedulers, planted from outside. */
export interface TimeBug {
  readonly name: string
  store?(honest: Store, db: Database): Store
  clock?(honest: Clock): Clock
}

/** Nodes that fire schedules of one store whose clock is set now and then. Nobody works: runs end by being cancelled. */
export interface TimeWorld {
  readonly seeded: Seeded
  readonly time: VirtualTime
  readonly engine: Engine
  readonly storeActor: Actor
  readonly nodes: SimNode[]
  readonly violations: string[]
  /** Names of schedules that were ever asked for. */
  readonly names: string[]
  startNode(): void
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
  const store = bug?.store ? bug.store(honest, engine.raw) : honest
  const shared = seed % 2 === 0 ? firingAhead(store, storeClock) : store
  const violations: string[] = []
  const laws = createTimeLaws(engine.raw, {
    now,
    violate: (law, detail) => violations.push(`${law}: ${detail}`),
  })
  const nodes: SimNode[] = []
  const open = engine.raw
    .prepare<[], number>('SELECT id FROM run WHERE status < 4 ORDER BY id LIMIT 20')
    .pluck()
  let named = 0

  const anyNode = () => {
    const up = nodes.filter(({ actor, node }) => node && actor.frozenUntilMs <= time.nowMs)
    return up.length > 0 ? seeded.pick(up) : undefined
  }

  return {
    ...{ seeded, time, engine, storeActor, nodes, violations, names: [] },

    startNode() {
      named += 1
      const actor = time.actor(`node-${named}`)
      const link = createStoreLink({
        ...{ shared, time, seeded, actor, tickCap: 20, onAnswer: () => {} },
      })
      const sim: SimNode = { actor, link, node: undefined }
      nodes.push(sim)
      const clock = time.clockOf(actor)
      const start = async () => {
        while (actor.isAlive && !sim.node) {
          const { store } = link
          const options = { store, blobs: createRowBlobs(store), random: seeded.random }
          const started = startNode({
            ...{ ...options, config: DEFAULT_CONFIG },
            clock: bug?.clock ? bug.clock(clock) : clock,
          })
          sim.node = await started.catch(() => undefined)
          if (!sim.node) await clock.sleep(1_000)
        }
      }
      void start()
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

const AHEAD_MS = 50

/** A store that can be asked to fire before the time: it happens when that has come, by its own clock. */
function firingAhead(store: Store, clock: Clock): Store {
  return {
    ...store,
    aheadMs: AHEAD_MS,
    async fire(batch) {
      const leftMs = batch.notBefore - clock.now()
      if (leftMs > 0 && leftMs <= 2 * AHEAD_MS) await clock.sleep(leftMs)
      return store.fire(batch)
    },
  }
}
