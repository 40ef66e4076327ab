import type { Database } from 'better-sqlite3'
import { DEFAULT_CONFIG } from '../../../src/server/cluster/config.ts'
import type { SchedulerNode } from '../../../src/server/node/start-node.ts'
import type { Store } from '../../../src/store/port.ts'
import {
  type SqliteEngine,
  openEngine,
  createStoreOnEngine,
} from '../../../src/store/sqlite/store.ts'
import { createNetwork, type MessageFaultRates } from '../network.ts'
import { createSeeded, type Seeded } from '../seeded.ts'
import { type SimNode, startSimNode } from '../sim-node.ts'
import { createStoreLink } from '../store-link.ts'
import { createVirtualTime, type VirtualTime } from '../virtual-time.ts'
import { createFailoverClient } from '../failover-client.ts'
import { type DrawnWorkflow, drawWorkflows } from './draw-workflow.ts'
import { createWorkflowTruth, type WorkflowTruth } from './workflow-truth.ts'
import { type WorkflowSimWorker, startWorkflowWorker } from './workflow-worker.ts'
import { createWorkflowInvariants, type WorkflowInvariants } from './workflow-invariants.ts'

/** A workflow engine bug planted from outside. */
export interface WorkflowBug {
  readonly name: string
  store(original: Store, db: Database): Store
}

/** Nodes and workers that run the workflows of one store, and users who interfere. */
export interface WorkflowWorld {
  readonly seeded: Seeded
  readonly time: VirtualTime
  readonly engine: SqliteEngine
  readonly drawn: readonly DrawnWorkflow[]
  readonly truth: WorkflowTruth
  readonly invariants: WorkflowInvariants
  readonly messageFaults: MessageFaultRates
  readonly nodes: SimNode[]
  readonly workers: WorkflowSimWorker[]
  readonly violations: string[]
  startNode(): void
  startWorker(): void
  /** A user sends a request to a node and may never get the answer. */
  ask(request: (node: SchedulerNode) => Promise<unknown>): void
  close(): void
}

export const SIM_WORKFLOW_CALLER = {
  project: 'default',
  actor: null,
  request: null,
  address: null,
  name: null,
}

export function createWorkflowWorld(seed: number, bug?: WorkflowBug): WorkflowWorld {
  const seeded = createSeeded(seed)
  const time = createVirtualTime(seeded)
  const { now } = time.clockOf(time.actor('store'))
  const engine = openEngine({ path: ':memory:', exclusive: false, now })
  const original = createStoreOnEngine(engine)
  const shared = bug ? bug.store(original, engine.raw) : original
  const violations: string[] = []
  const drawn = drawWorkflows(seeded)
  const truth = createWorkflowTruth()
  const invariants = createWorkflowInvariants(engine.raw, drawn, truth, {
    nowMs: () => time.nowMs,
    storeNow: now,
    violate: (invariant, detail) => violations.push(`${invariant}: ${detail}`),
  })
  const messageFaults: MessageFaultRates = { drop: 0, repeat: 0, delay: 0 }
  const network = { time, seeded, messageFaults, isCut: () => false, onMessage: () => {} }
  const call = createNetwork(network)
  const nodes: SimNode[] = []
  const workers: WorkflowSimWorker[] = []
  let lastNumber = 0

  return {
    seeded,
    time,
    engine,
    drawn,
    truth,
    invariants,
    messageFaults,
    nodes,
    workers,
    violations,

    startNode() {
      lastNumber += 1
      const actor = time.actor(`node-${lastNumber}`)
      const tickCap = seeded.pick([1, 3, 20])
      const link = createStoreLink({ shared, time, seeded, actor, tickCap, onAnswer: () => {} })
      const clock = time.clockOf(actor)
      nodes.push(startSimNode({ actor, link, clock, seeded, config: DEFAULT_CONFIG }))
    },

    startWorker() {
      lastNumber += 1
      const name = `worker-${lastNumber}`
      const actor = time.actor(name)
      const client = createFailoverClient({ caller: actor, call, nodes, seeded })
      workers.push(
        startWorkflowWorker({ name, actor, client, time, seeded, truth, allWorkers: workers }),
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
