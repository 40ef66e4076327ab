import type { Submission, SchedulerClient, WorkerClient } from '../../src/core/wire/protocol.ts'
import { parsePublicId } from '../../src/core/ids.ts'
import { STATE_CODE } from '../../src/core/run/run-state.ts'
import { DEFAULT_CONFIG, type NodeConfig } from '../../src/server/cluster/config.ts'
import { openEngine, createStoreOnEngine, type SqliteEngine } from '../../src/store/sqlite/store.ts'
import { createCountingInvariant } from './counting-invariant.ts'
import type { Coverage, FaultName } from './coverage.ts'
import { createHostileWorker, FLEET, type HostileWorker } from './hostile-worker.ts'
import { createNetwork, type MessageFaultRates } from './network.ts'
import { createPlacementInvariant } from './placement-invariant.ts'
import type { PlantedBug } from './planted-bugs.ts'
import { createSafetyInvariants } from './safety-invariants.ts'
import { createSeeded, type Seeded } from './seeded.ts'
import { type SimNode, startSimNode } from './sim-node.ts'
import { startSimWorker, type SimWorker, type WorkerOffer } from './sim-worker.ts'
import { createStoreLink } from './store-link.ts'
import { createGroundTruth, outcomeOfError, type GroundTruth } from './ground-truth.ts'
import { createVirtualTime, type Actor, type VirtualTime } from './virtual-time.ts'
import { createFailoverClient } from './failover-client.ts'

/** Nodes, workers, clients, a network and one store, all from one seed. */
export interface SimWorld {
  readonly seeded: Seeded
  readonly time: VirtualTime
  readonly engine: SqliteEngine
  readonly truth: GroundTruth
  readonly messageFaults: MessageFaultRates
  readonly nodes: SimNode[]
  readonly workers: SimWorker[]
  readonly cuts: Set<string>
  isHealing: boolean
  /** Present only in worlds with a hostile worker. */
  readonly hostile: HostileWorker | undefined
  startNode(): void
  /** Without an offer, a random one. */
  startWorker(offer?: WorkerOffer): void
  submit(submission: Submission): void
  cancel(runId: number, publicRun: string): void
  recordFault(fault: FaultName): void
  assertSafe(): void
  close(): void
}

/** Queues in order of preference, for workers of different strength. */
const QUEUES = [['default'], ['heavy', 'default'], ['heavy', 'default'], ['default', 'heavy']]

export const cutKey = (caller: Actor, host: Actor) => `${caller.name}|${host.name}`

export function createSimWorld(
  seed: number,
  coverage: Coverage,
  bug?: PlantedBug,
  isHostile = bug?.isHostile ?? false,
): SimWorld {
  const seeded = createSeeded(seed)
  const time = createVirtualTime(seeded)
  const truth = createGroundTruth()
  const world = { isHealing: false } as SimWorld
  const storeActor = time.actor('store')
  const engine = openEngine({
    path: ':memory:',
    exclusive: false,
    now: time.clockOf(storeActor).now,
  })
  const shared = bug?.store
    ? bug.store(createStoreOnEngine(engine), engine.raw, seeded)
    : createStoreOnEngine(engine)
  const safety = createSafetyInvariants(engine.raw, truth)
  const counting = createCountingInvariant(engine.raw, truth)
  const placement = createPlacementInvariant(engine.raw, truth, {
    nowMs: () => time.nowMs,
    offerOf: (name) => world.workers.find(({ actor }) => actor.name === name)?.offer,
    inTouchSinceMs(id) {
      const sim = world.nodes.find(({ node }) => node?.id === id)
      if (!sim) return time.nowMs
      return Math.max(sim.actor.frozenUntilMs, sim.link.cutUntilMs, sim.link.lostAtMs)
    },
    aloneSinceMs: () => (world.nodes.length > 1 ? time.nowMs : nodesChangedMs),
  })
  const cuts = new Set<string>()
  const messageFaults: MessageFaultRates = { drop: 0, repeat: 0, delay: 0 }
  const call = createNetwork({
    time,
    seeded,
    messageFaults,
    isCut: (caller, host) => cuts.has(cutKey(caller, host)),
    onMessage: (fault) => world.recordFault(fault),
  })
  const config: NodeConfig = { ...DEFAULT_CONFIG, ...bug?.config }
  let lastNumber = 0
  /** A message that a node sent before it died still arrives. */
  let nodesChangedMs = 0
  let nodesBefore = 0

  const workingFrom = (caller: Actor): WorkerClient => {
    const failover = createFailoverClient({
      caller,
      call,
      nodes: world.nodes,
      seeded,
      ...(isHostile && { serve: (node) => node.workingFor(FLEET) }),
    })
    const original: WorkerClient = {
      ...failover,
      async exchange(session, message, signal) {
        const answer = await failover.exchange(session, message, signal)
        safety.checkVerdicts(message, answer)
        return answer
      },
    }
    return bug?.workerClient ? bug.workerClient(original) : original
  }

  const client = time.actor('client')
  const fromClient = <T>(
    request: (served: SchedulerClient) => Promise<T>,
    mayRepeat: boolean,
  ): Promise<T> => {
    const sim = seeded.pick(world.nodes)
    const host = { actor: sim.actor, serve: () => sim.node?.clientFor('default') }
    return call(client, host, request as (served: WorkerClient) => Promise<T>, { mayRepeat })
  }

  const status = engine.raw.prepare<[], { status: number }>('SELECT DISTINCT status FROM run')
  const stateOfStatus = new Map<number, string>(
    Object.entries(STATE_CODE).map(([state, code]) => [code, state] as const),
  )

  Object.assign(world, {
    seeded,
    time,
    engine,
    truth,
    messageFaults,
    cuts,
    nodes: [],
    workers: [],
    hostile: undefined,

    startNode() {
      lastNumber += 1
      const actor = time.actor(`node-${lastNumber}`)
      const link = createStoreLink({
        shared,
        time,
        seeded,
        actor,
        tickCap: seeded.pick([1, 3, 20]),
        onAnswer(verb, result, backForMs) {
          if (verb !== 'declareDeadNodes' || (result as number[]).length === 0) return
          if (backForMs >= DEFAULT_CONFIG.nodeTtlMs) return
          truth.violate('reaping after an outage', `${actor.name} was back for ${backForMs} ms`)
        },
      })
      const own = time.clockOf(actor)
      const clock = bug?.clock ? bug.clock(own) : own
      world.nodes.push(startSimNode({ actor, link, clock, seeded, config }))
    },

    startWorker({ slots, queues }: Partial<WorkerOffer> = {}) {
      lastNumber += 1
      const name = `worker-${lastNumber}`
      const actor = time.actor(name)
      world.workers.push(
        startSimWorker({
          name,
          actor,
          time,
          seeded,
          truth,
          slots: slots ?? seeded.between(1, 4),
          queues: queues ?? seeded.pick(QUEUES),
          client: workingFrom(actor),
          isAutomatic: () => world.isHealing,
          others: () => world.workers.filter((other) => other.actor !== actor),
        }),
      )
    },

    submit(submission: Submission) {
      const number = truth.submissions.size
      const record: ReturnType<typeof truth.submissions.get> & object = {
        job: submission.job,
        outcome: 'sent',
        runId: null,
      }
      truth.submissions.set(number, record)
      const tagged = { ...submission, tags: { n: String(number) } }
      // Without a key, a message that arrives twice correctly becomes two submissions.
      const mayRepeat = submission.idempotencyKey !== undefined
      fromClient((served) => served.submit([tagged]), mayRepeat).then(
        ([answer]) => {
          record.outcome = answer?.created ? 'acknowledged' : 'merged'
          record.runId = parsePublicId('run', answer?.id ?? '') ?? null
        },
        (error: unknown) => {
          record.outcome = outcomeOfError(error)
        },
      )
    },

    cancel(runId: number, publicRun: string) {
      fromClient((served) => served.cancel(publicRun), true).then(
        () => safety.rememberCancel(runId),
        () => {},
      )
    },

    recordFault(fault: FaultName) {
      for (const row of status.all()) coverage.record(fault, stateOfStatus.get(row.status) ?? '?')
    },

    assertSafe() {
      if (world.nodes.length !== nodesBefore) nodesChangedMs = time.nowMs
      nodesBefore = world.nodes.length
      safety.check()
      counting.check()
      placement.check()
    },
    close: () => engine.close(),
  } satisfies Partial<SimWorld>)
  if (!isHostile) return world
  const { nodes } = world
  const mapOrigin = bug?.mapOrigin
  const hostile = createHostileWorker({
    seed,
    db: engine.raw,
    nodes,
    truth,
    ...(mapOrigin && { mapOrigin }),
  })
  return Object.assign(world, { hostile })
}
