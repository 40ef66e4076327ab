import type { Submission, SchedulerClient, Working } from '../../src/core/wire/protocol.ts'
import { parsePublicId } from '../../src/core/ids.ts'
import { STATE_CODE } from '../../src/core/run/run-state.ts'
import { DEFAULT_CONFIG, type NodeConfig } from '../../src/server/cluster/config.ts'
import { openEngine, storeOn, type Engine } from '../../src/store/sqlite/store.ts'
import { createCountingLaw } from './counting-invariant.ts'
import type { Coverage, Fault } from './coverage.ts'
import { createNetwork, type Weather } from './network.ts'
import { createPlacementLaw } from './placement-invariant.ts'
import type { PlantedBug } from './planted-bugs.ts'
import { createSafety } from './safety-invariants.ts'
import { createSeeded, type Seeded } from './seeded.ts'
import { type SimNode, startSimNode } from './sim-node.ts'
import { startSimWorker, type SimWorker, type WorkerOffer } from './sim-worker.ts'
import { createStoreLink } from './store-link.ts'
import { createTruth, outcomeOf, type Truth } from './ground-truth.ts'
import { createVirtualTime, type Actor, type VirtualTime } from './virtual-time.ts'
import { createWayIn } from './failover-client.ts'

/** Nodes, workers, clients, a network and one store, all from one seed. */
export interface World {
  readonly seeded: Seeded
  readonly time: VirtualTime
  readonly engine: Engine
  readonly truth: Truth
  readonly weather: Weather
  readonly nodes: SimNode[]
  readonly workers: SimWorker[]
  readonly cuts: Set<string>
  isHealing: boolean
  startNode(): void
  /** Without an offer, one of any kind. */
  startWorker(offer?: WorkerOffer): void
  submit(submission: Submission): void
  cancel(runId: number, publicRun: string): void
  meet(fault: Fault): void
  assertSafe(): void
  close(): void
}

/** In their order of preference, for workers of unlike strength. */
const QUEUES = [['default'], ['heavy', 'default'], ['heavy', 'default'], ['default', 'heavy']]

export const cutKey = (caller: Actor, host: Actor) => `${caller.name}|${host.name}`

export function createWorld(seed: number, coverage: Coverage, bug?: PlantedBug): World {
  const seeded = createSeeded(seed)
  const time = createVirtualTime(seeded)
  const truth = createTruth()
  const world = { isHealing: false } as World
  const storeActor = time.actor('store')
  const engine = openEngine({
    path: ':memory:',
    exclusive: false,
    now: time.clockOf(storeActor).now,
  })
  const shared = bug?.store ? bug.store(storeOn(engine), engine.raw, seeded) : storeOn(engine)
  const safety = createSafety(engine.raw, truth)
  const counting = createCountingLaw(engine.raw, truth)
  const placement = createPlacementLaw(engine.raw, truth, {
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
  const weather: Weather = { drop: 0, repeat: 0, delay: 0 }
  const call = createNetwork({
    time,
    seeded,
    weather,
    isCut: (caller, host) => cuts.has(cutKey(caller, host)),
    onMessage: (fault) => world.meet(fault),
  })
  const config: NodeConfig = { ...DEFAULT_CONFIG, ...bug?.config }
  let named = 0
  /** What a node sent before it died still arrives. */
  let nodesChangedMs = 0
  let nodesBefore = 0

  const workingFrom = (caller: Actor): Working => {
    const wayIn = createWayIn({ caller, call, nodes: world.nodes, seeded })
    const honest: Working = {
      ...wayIn,
      async exchange(session, message, signal) {
        const answer = await wayIn.exchange(session, message, signal)
        safety.checkVerdicts(message, answer)
        return answer
      },
    }
    return bug?.working ? bug.working(honest) : honest
  }

  const client = time.actor('client')
  const fromClient = <T>(
    request: (served: SchedulerClient) => Promise<T>,
    mayRepeat: boolean,
  ): Promise<T> => {
    const sim = seeded.pick(world.nodes)
    const host = { actor: sim.actor, serve: () => sim.node?.clientFor('default') }
    return call(client, host, request as (served: Working) => Promise<T>, { mayRepeat })
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
    weather,
    cuts,
    nodes: [],
    workers: [],

    startNode() {
      named += 1
      const actor = time.actor(`node-${named}`)
      const link = createStoreLink({
        ...{ shared, time, seeded, actor },
        tickCap: seeded.pick([1, 3, 20]),
        onAnswer(verb, result, backForMs) {
          if (verb !== 'buryDead' || (result as number[]).length === 0) return
          if (backForMs >= DEFAULT_CONFIG.nodeTtlMs) return
          truth.violate('reaping after an outage', `${actor.name} was back for ${backForMs} ms`)
        },
      })
      const own = time.clockOf(actor)
      const clock = bug?.clock ? bug.clock(own) : own
      world.nodes.push(startSimNode({ actor, link, clock, seeded, config }))
    },

    startWorker({ slots, queues }: Partial<WorkerOffer> = {}) {
      named += 1
      const name = `worker-${named}`
      const actor = time.actor(name)
      world.workers.push(
        startSimWorker({
          ...{ name, actor, time, seeded, truth, slots: slots ?? seeded.between(1, 4) },
          queues: queues ?? seeded.pick(QUEUES),
          client: workingFrom(actor),
          isAutomatic: () => world.isHealing,
          others: () => world.workers.filter((other) => other.actor !== actor),
        }),
      )
    },

    submit(submission: Submission) {
      const number = truth.submissions.size
      const told: ReturnType<typeof truth.submissions.get> & object = {
        job: submission.job,
        outcome: 'sent',
        runId: null,
      }
      truth.submissions.set(number, told)
      const tagged = { ...submission, tags: { n: String(number) } }
      // Without a key, a message that arrives twice is two submissions, and rightly so.
      const mayRepeat = submission.idempotencyKey !== undefined
      fromClient((served) => served.submit([tagged]), mayRepeat).then(
        ([answer]) => {
          told.outcome = answer?.created ? 'acknowledged' : 'merged'
          told.runId = parsePublicId('run', answer?.id ?? '') ?? null
        },
        (error: unknown) => {
          told.outcome = outcomeOf(error)
        },
      )
    },

    cancel(runId: number, publicRun: string) {
      fromClient((served) => served.cancel(publicRun), true).then(
        () => safety.rememberCancel(runId),
        () => {},
      )
    },

    meet(fault: Fault) {
      for (const row of status.all()) coverage.met(fault, stateOfStatus.get(row.status) ?? '?')
    },

    assertSafe() {
      if (world.nodes.length !== nodesBefore) nodesChangedMs = time.nowMs
      nodesBefore = world.nodes.length
      safety.check()
      counting.check()
      placement.check()
    },
    close: () => engine.close(),
  } satisfies Partial<World>)
  return world
}
