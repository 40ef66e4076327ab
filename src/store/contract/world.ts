import assert from 'node:assert/strict'
import { after, type TestContext } from 'node:test'
import { drawSalt, fenceOf } from '../../core/run/fence.ts'
import { createMinter } from '../../core/ids.ts'
import { isFinal, type RunState } from '../../core/run/run-state.ts'
import type {
  CancelVerdict,
  ClaimDemand,
  EndCommand,
  EndVerdict,
  JoinedNode,
  LanePosition,
  Lease,
  NewRun,
  RunRecord,
  Store,
  SubmitVerdict,
  TickBatch,
  TickResult,
} from '../port.ts'
import {
  at,
  chunks,
  createManualClock,
  createSeededRandom,
  EMPTY_BATCH,
  endCommandFor,
  GRACE_MS,
  type ManualClock,
  type AttemptRef,
  listAll,
  NODE_TTL_MS,
  only,
  NO_OPTIONS,
  START_MS,
} from './fixture.ts'

/** A store under test, and facts about its adapter. */
export interface OpenedStore {
  readonly store: Store
  /** One process owns the data: every earlier incarnation is dead when a new one joins. */
  readonly exclusive: boolean
  /**
   * Drops the store as a crash would and opens the same data again. Absent for stores in memory.
   */
  readonly reopen?: () => Promise<Store>
  /** Closes the open store and removes its data. */
  close(): Promise<void>
}

export type OpenStore = (options: { now: () => number }) => Promise<OpenedStore>

export interface Demand {
  readonly laneId?: number
  readonly session?: number
  readonly sessions?: readonly number[]
  readonly floor?: LanePosition | null
}

/** One store, one joined node, one project with a job and a lane: what most tests start from. */
export interface StoreWorld {
  readonly store: Store
  readonly exclusive: boolean
  readonly reopen: (() => Promise<Store>) | undefined
  readonly clock: ManualClock
  readonly node: number
  readonly slot: number
  /** The worker session for claims that name no session. */
  readonly session: number
  readonly projectName: string
  readonly project: number
  readonly otherProject: number
  readonly job: number
  readonly lane: number
  /** Another node; it leaves with the world. */
  join(name?: string): Promise<JoinedNode>
  internLane(queue: string): Promise<number>
  mint(): number
  newRun(overrides?: Partial<NewRun>): NewRun
  newRuns(count: number, overrides?: Partial<NewRun>): NewRun[]
  /** A reservation for a run that has not been claimed before. */
  reservation(session?: number): { session: number; fence: number }
  demand(count: number, options?: Demand): ClaimDemand
  gate(name: string, capacity: number): Promise<number>
  tick(batch: Partial<TickBatch>): Promise<TickResult>
  submit(...runs: NewRun[]): Promise<readonly SubmitVerdict[]>
  claim(count: number, options?: Demand): Promise<readonly Lease[]>
  /** Submits a run and claims it: a running run. Its lane must be empty before. */
  start(overrides?: Partial<NewRun>): Promise<Lease>
  end(lease: AttemptRef, overrides?: Partial<EndCommand>): Promise<EndVerdict>
  cancel(runId: number, projectId?: number): Promise<CancelVerdict>
  find(runId: number): Promise<RunRecord>
  stateOf(runId: number): Promise<RunState>
  /** All runs of the project, newest first. */
  list(): Promise<readonly RunRecord[]>
  /** Ends all live runs. */
  clear(): Promise<void>
}

/** An open store and its clock, on which several worlds are built in turn. */
interface OpenStoreWithClock extends OpenedStore {
  readonly clock: ManualClock
}

async function openStoreWithClock(open: OpenStore): Promise<OpenStoreWithClock> {
  const clock = createManualClock(START_MS)
  return { ...(await open({ now: clock.now })), clock }
}

let worlds = 0

async function buildWorld({
  store,
  exclusive,
  reopen,
  clock,
}: OpenStoreWithClock): Promise<StoreWorld> {
  const name = `alpha-${(worlds += 1)}`
  const joined = await joinNode(store)
  const nodes = [joined.node]
  const random = createSeededRandom(joined.slot + 1)
  const minter = createMinter({
    slot: joined.slot,
    floor: joined.idFloor,
    now: clock.now,
    random,
  })
  const ownSession = minter.mint()
  const projects = await store.internProjects([name, `beta-${worlds}`])
  const [project, otherProject] = [at(projects, 0), at(projects, 1)]
  const job = only(await store.internJobs([{ projectId: project, name: 'tidy-inbox' }]))
  const internLane = async (queue: string) => {
    const spec = { project: name, queue, labels: [], executor: 'handler:tidy-inbox', weight: 1 }
    return only(await store.internLanes([spec]))
  }
  const lane = await internLane('default')

  const world: StoreWorld = {
    store,
    exclusive,
    reopen,
    clock,
    node: joined.node,
    slot: joined.slot,
    session: ownSession,
    projectName: name,
    project,
    otherProject,
    job,
    lane,
    join: async (another = 'another') => {
      const node = await joinNode(store, another)
      nodes.push(node.node)
      return node
    },
    internLane,
    mint: () => minter.mint(),
    newRun: (overrides) => ({
      ...NO_OPTIONS,
      id: minter.mint(),
      projectId: project,
      jobId: job,
      laneId: lane,
      ...overrides,
    }),
    newRuns: (count, overrides) => Array.from({ length: count }, () => world.newRun(overrides)),
    reservation: (session = ownSession) => ({ session, fence: fenceOf(1, drawSalt(random)) }),
    demand: (count, { laneId = lane, session = ownSession, sessions, floor = null } = {}) => {
      const dealt = sessions ?? Array.from({ length: count }, () => session)
      return { laneId, sessions: dealt, salts: dealt.map(() => drawSalt(random)), floor }
    },
    gate: async (gate, capacity) =>
      only(await store.internGates([{ projectId: project, name: gate, capacity }])),
    tick: (batch) => store.tick({ ...EMPTY_BATCH, node: joined.node, ...batch }),
    submit: async (...runs) => (await world.tick({ submits: runs })).submits,
    claim: async (count, options) =>
      only((await world.tick({ claims: [world.demand(count, options)] })).claims),
    start: async (overrides) => {
      const run = world.newRun(overrides)
      await world.submit(run)
      const lease = only(await world.claim(1, { laneId: run.laneId }))
      assert.equal(lease.runId, run.id, 'the lane was not empty before')
      return lease
    },
    end: async (lease, overrides) =>
      only((await world.tick({ ends: [endCommandFor(lease, overrides)] })).ends),
    cancel: async (runId, projectId = project) =>
      only((await world.tick({ cancels: [{ runId, projectId }] })).cancels),
    find: async (runId) => {
      const record = await store.findRun({ projectId: project, runId })
      assert.ok(record, `run ${runId} is not there`)
      return record
    },
    stateOf: async (runId) => (await world.find(runId)).state,
    list: () => listAll(store, project),
    clear: () => clearWorld(world, nodes),
  }
  return world
}

/** Ends all live runs of the world's nodes and projects, so that the next world starts clean. */
async function clearWorld(world: StoreWorld, nodes: readonly number[]): Promise<void> {
  const { store, project, otherProject } = world
  for (const node of nodes) {
    const leases = await store.ownLeases({ node, after: 0, limit: 10_000 })
    for (const some of chunks(leases, store.tickCap)) {
      await world.tick({ ends: some.map((lease) => endCommandFor(lease)) })
    }
  }
  for (const projectId of [project, otherProject]) {
    const live = (await listAll(store, projectId)).filter(({ state }) => !isFinal(state))
    for (const some of chunks(live, store.tickCap)) {
      await world.tick({ cancels: some.map(({ id }) => ({ runId: id, projectId })) })
    }
    await endWorkflows(
      store,
      at(nodes, 0),
      live.map(({ id }) => id),
    )
  }
  for (const node of nodes) await store.leave({ node, idMark: world.mint() })
}

/** A cancelled workflow is ended by the next node that advances it. */
async function endWorkflows(store: Store, node: number, runIds: readonly number[]): Promise<void> {
  const workflows = (await store.findWorkflows({ runIds })).filter(
    ({ endedAt }) => endedAt === null,
  )
  const end = { state: 'cancelled', cause: 'cancelled', message: null, result: null } as const
  const nothing = { processed: [], starts: [], marks: [], checkAt: null }
  const moves = workflows.map(({ runId, revision }) => ({ runId, revision, ...nothing, end }))
  if (moves.length > 0) await store.advanceWorkflows({ node, transitions: moves })
}

/** Turns a function of a world into the body of a test. */
export type InWorld = (
  body: (world: StoreWorld, t: TestContext) => Promise<void>,
) => (t: TestContext) => Promise<void>

/** Each test on its own store: for behaviour that needs an empty store or an untouched clock. */
export function onFreshStores(open: OpenStore): InWorld {
  return (body) => async (t) => {
    const ground = await openStoreWithClock(open)
    try {
      await body(await buildWorld(ground), t)
    } finally {
      await ground.close()
    }
  }
}

/**
 * One store for all tests of a suite, each in projects, lanes and with a node of its own: faster,
 * and closer to a store in use, which is never empty.
 */
export function onSharedStore(open: OpenStore): InWorld {
  let ground: Promise<OpenStoreWithClock> | undefined
  after(async () => (await ground)?.close())
  return (body) => async (t) => {
    const world = await buildWorld(await (ground ??= openStoreWithClock(open)))
    await body(world, t)
    await world.clear()
  }
}

export async function joinNode(store: Store, name = 'node'): Promise<JoinedNode> {
  const joined = await store.join({ name, ttlMs: NODE_TTL_MS, graceMs: GRACE_MS })
  assert.ok(joined, 'no slot is free')
  return joined
}
