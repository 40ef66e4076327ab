import type { Database } from 'better-sqlite3'
import { DEFAULT_CONFIG } from '../../../src/server/cluster/config.ts'
import type { SchedulerNode } from '../../../src/server/node/start-node.ts'
import type { Store } from '../../../src/store/port.ts'
import { type Engine, openEngine, storeOn } from '../../../src/store/sqlite/store.ts'
import { createNetwork, type Weather } from '../network.ts'
import { createSeeded, type Seeded } from '../seeded.ts'
import { type SimNode, startSimNode } from '../sim-node.ts'
import { createStoreLink } from '../store-link.ts'
import { createVirtualTime, type VirtualTime } from '../virtual-time.ts'
import { createWayIn } from '../failover-client.ts'
import { type Drawn, drawWorkflows } from './draw-workflow.ts'
import { createFlowTruth, type FlowTruth } from './workflow-truth.ts'
import { type FlowWorker, startFlowWorker } from './workflow-worker.ts'
import { createWorkflowLaws, type WorkflowLaws } from './workflow-invariants.ts'

/** A bug of workflow engines, planted from outside. */
export interface FlowBug {
  readonly name: string
  store(honest: Store, db: Database): Store
}

/** Nodes and workers that run workflows of one store, and people who interfere. */
export interface WorkflowWorld {
  readonly seeded: Seeded
  readonly time: VirtualTime
  readonly engine: Engine
  readonly drawn: readonly Drawn[]
  readonly truth: FlowTruth
  readonly laws: WorkflowLaws
  readonly weather: Weather
  readonly nodes: SimNode[]
  readonly workers: FlowWorker[]
  readonly violations: string[]
  startNode(): void
  startWorker(): void
  /** Somebody asks a node for something, and may never hear what became of it. */
  ask(request: (node: SchedulerNode) => Promise<unknown>): void
  close(): void
}

export const BY = { project: 'default', actor: null, request: null, address: null, name: null }

export function createWorkflowWorld(seed: number, bug?: FlowBug): WorkflowWorld {
  const seeded = createSeeded(seed)
  const time = createVirtualTime(seeded)
  const { now } = time.clockOf(time.actor('store'))
  const engine = openEngine({ path: ':memory:', exclusive: false, now })
  const honest = storeOn(engine)
  const shared = bug ? bug.store(honest, engine.raw) : honest
  const violations: string[] = []
  const drawn = drawWorkflows(seeded)
  const truth = createFlowTruth()
  const laws = createWorkflowLaws(engine.raw, drawn, truth, {
    ...{ nowMs: () => time.nowMs, storeNow: now },
    violate: (law, detail) => violations.push(`${law}: ${detail}`),
  })
  const weather: Weather = { drop: 0, repeat: 0, delay: 0 }
  const network = { time, seeded, weather, isCut: () => false, onMessage: () => {} }
  const call = createNetwork(network)
  const nodes: SimNode[] = []
  const workers: FlowWorker[] = []
  let named = 0

  return {
    ...{ seeded, time, engine, drawn, truth, laws, weather, nodes, workers, violations },

    startNode() {
      named += 1
      const actor = time.actor(`node-${named}`)
      const tickCap = seeded.pick([1, 3, 20])
      const link = createStoreLink({ shared, time, seeded, actor, tickCap, onAnswer: () => {} })
      const clock = time.clockOf(actor)
      nodes.push(startSimNode({ actor, link, clock, seeded, config: DEFAULT_CONFIG }))
    },

    startWorker() {
      named += 1
      const name = `worker-${named}`
      const actor = time.actor(name)
      const client = createWayIn({ caller: actor, call, nodes, seeded })
      workers.push(
        startFlowWorker({ name, actor, client, time, seeded, truth, everybody: workers }),
      )
    },

    ask(request) {
      const up = nodes.filter(({ actor, node }) => node && actor.frozenUntilMs <= time.nowMs)
      if (up.length === 0) return
      const { actor, node } = seeded.pick(up)
      const asked = () => void request(node as SchedulerNode).catch(() => {})
      time.after(actor, seeded.int(5), asked)
    },

    close: () => engine.close(),
  }
}
