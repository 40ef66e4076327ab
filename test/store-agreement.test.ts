import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listAll } from '../src/store/contract/fixture.ts'
import {
  CAPACITIES,
  createWorkloadModel,
  type WorkloadModel,
  type WorkloadMove,
  type WorkloadPlan,
  type TickReport,
} from '../src/store/contract/workload.ts'
import type { Lease, RunRecord, Store, TickBatch, TickResult } from '../src/store/port.ts'
import { openEngine, createStoreOnEngine } from '../src/store/sqlite/store.ts'
import { openPostgresStore } from '../src/store/postgres/store.ts'
import { createSeeded } from './sim/seeded.ts'
import { postgresUrl } from './support/servers.ts'
import * as postgresTrace from './support/trace-postgres.ts'
import * as sqliteTrace from './support/trace-sqlite.ts'

/**
 * Two stores, one history: the same ticks at the same times must move the same runs through the same states and
 * give the same answers, whatever the rows look like.
 */
const SEEDS = [11, 12, 13, 14]
const MOVES = 300
const START_MS = Date.UTC(2026, 2, 4, 12)
const PROJECTS = ['alpha', 'beta']

/** A store that maps the same names to its own ids, and the trace of its runs. */
interface Side {
  readonly store: Store
  readonly node: number
  readonly projects: readonly number[]
  readonly jobs: readonly number[]
  readonly lanes: readonly number[]
  readonly gates: readonly number[]
  /** State changes since the last call. */
  changes(): Promise<readonly sqliteTrace.TraceRow[]>
}

for (const seed of SEEDS) {
  test(`SQLite and PostgreSQL give the same history, seed ${seed}`, async () => {
    const clock = { nowMs: START_MS }
    const now = () => clock.nowMs
    const chance = createSeeded(seed)
    const sides = [await openSqlite(now), await openPostgres(now)] as const
    try {
      const mind = createWorkloadModel(chance, now)
      for (let count = 1; count <= MOVES; count += 1) {
        if (chance.chance(0.6)) clock.nowMs += chance.int(400)
        const move = mind.nextMove()
        const told = await both(sides, (side) => make(side, move))
        agree(told, `move ${count}, ${move.kind}`)
        if (move.kind === 'tick') mind.remember(move.plan, told[0] as TickReport)
        agree(await both(sides, storyOf(mind)), `changes of move ${count}, ${move.kind}`)
        if (count % 50 === 0 || count === MOVES) agree(await both(sides, everything), `at ${count}`)
      }
      assert.ok(mind.ended > MOVES / 5, `only ${mind.ended} attempts ended: the story is too thin`)
    } finally {
      for (const { store } of sides) await store.close()
    }
  })
}

/** Every transition a run can make under workers, clients and sweeps. */
const ARROWS = [
  'new → ready',
  'new → scheduled',
  'new → blocked',
  'new → running',
  'scheduled → ready',
  'scheduled → blocked',
  'blocked → ready',
  'ready → running',
  'blocked → scheduled',
  'blocked → skipped',
  'running → succeeded',
  'running → failed',
  'running → cancelled',
  'running → scheduled',
  'running → ready',
  'ready → cancelled',
  'scheduled → cancelled',
  'blocked → cancelled',
]
const taken = new Set<string>()

test('the histories together cover every transition of the graph and no other', () => {
  assert.deepEqual([...taken].toSorted(), ARROWS.toSorted())
})

async function both<T>(
  sides: readonly [Side, Side],
  work: (side: Side) => Promise<T>,
): Promise<[T, T]> {
  return [await work(sides[0]), await work(sides[1])]
}

function agree([sqlite, postgres]: [unknown, unknown], where: string): void {
  assert.deepEqual(postgres, sqlite, `PostgreSQL differs from SQLite: ${where}`)
}

// ── Operations on one side, reported in terms both sides share ──────────────────────────────────

async function make(side: Side, move: WorkloadMove): Promise<unknown> {
  const { store } = side
  switch (move.kind) {
    case 'tick':
      return tell(side, await store.tick(inNumbersOf(side, move.plan)))
    case 'promote': {
      const { lanes, ...rest } = await store.promote(move)
      return { ...rest, lanes: indexes(side.lanes, lanes) }
    }
    case 'recheck': {
      const { lanes, ...rest } = await store.recheck(move)
      return { ...rest, lanes: indexes(side.lanes, lanes) }
    }
    case 'resize': {
      const name = gateName(move.gate)
      const { capacity } = move
      const ids = await store.internGates([{ projectId: at(side.projects, 0), name, capacity }])
      return indexes(side.gates, ids)
    }
  }
}

function inNumbersOf({ node, projects, jobs, lanes, gates }: Side, plan: WorkloadPlan): TickBatch {
  return {
    node,
    submits: plan.submits.map((run) => ({
      ...run,
      projectId: at(projects, run.projectId),
      jobId: at(jobs, run.jobId),
      laneId: at(lanes, run.laneId),
      gates: run.gates.map((gate) => at(gates, gate)),
    })),
    ends: plan.ends,
    cancels: plan.cancels.map((one) => ({ ...one, projectId: at(projects, one.projectId) })),
    claims: plan.claims.map((one) => ({ ...one, laneId: at(lanes, one.laneId) })),
  }
}

function tell(side: Side, result: TickResult): unknown {
  const { submits, ends, cancels, claims, refilled, ...rest } = result
  return {
    answers: { submits, ends },
    leases: claims.flat().map((lease) => inIndexesOf(side, lease)),
    dealt: claims.map((leases) => leases.length),
    cancels: cancels.map((one) =>
      one.kind === 'marked' ? { ...one, node: one.node === side.node } : one,
    ),
    refilled: indexes(side.lanes, refilled),
    ...rest,
  }
}

function inIndexesOf<T extends RunRecord | Lease>(side: Side, row: T): T {
  return {
    ...row,
    projectId: side.projects.indexOf(row.projectId),
    jobId: side.jobs.indexOf(row.jobId),
    laneId: side.lanes.indexOf(row.laneId),
    ...('gates' in row ? { gates: indexes(side.gates, row.gates) } : {}),
    ...('node' in row ? { node: row.node - side.node } : {}),
  }
}

/** Every run in full, every lease, every mark. */
async function everything(side: Side): Promise<unknown> {
  const { store, node } = side
  const runs = await Promise.all(side.projects.map((project) => listAll(store, project)))
  const leases = await store.ownLeases({ node, after: 0, limit: 1_000 })
  return {
    runs: runs.flat().map((run) => inIndexesOf(side, run)),
    leases: leases.map((lease) => inIndexesOf(side, lease)),
    marks: (await store.cancelMarks({ node })).toSorted((a, b) => a - b),
    counts: await store.liveCounts(),
  }
}

function storyOf({ ordinalOf }: WorkloadModel): (side: Side) => Promise<unknown> {
  return async (side) => {
    const rows = await side.changes()
    for (const { from, to } of rows) taken.add(`${from ?? 'new'} → ${to}`)
    return rows
      .map(({ runId, from, to, attempt, cause }) =>
        [ordinalOf(runId), from ?? 'new', to, attempt, cause ?? '-'].join(' '),
      )
      .toSorted()
  }
}

function indexes(numbers: readonly number[], given: readonly number[]): number[] {
  return given.map((number) => numbers.indexOf(number)).toSorted((a, b) => a - b)
}

function at<T>(list: readonly T[], index: number): T {
  assert.ok(index >= 0 && index < list.length)
  return list[index] as T
}

// ── The two sides ───────────────────────────────────────────────────────────────────────────────────

async function openSqlite(now: () => number): Promise<Side> {
  const engine = openEngine({ path: ':memory:', now })
  sqliteTrace.installTrace(engine.raw)
  const readAfter = async (seen: number) => sqliteTrace.readTrace(engine.raw, seen)
  return prepare(createStoreOnEngine(engine), readAfter)
}

async function openPostgres(now: () => number): Promise<Side> {
  const url = await postgresUrl()
  const store = await openPostgresStore({ url, now })
  await postgresTrace.installTrace({ url })
  return prepare(store, (seen) => postgresTrace.readTrace({ url }, seen))
}

const gateName = (gate: number) => `gate-${gate}`

async function prepare(
  store: Store,
  readAfter: (seen: number) => Promise<sqliteTrace.TraceRow[]>,
): Promise<Side> {
  const joined = await store.join({ name: 'only', ttlMs: 30_000, graceMs: 60_000 })
  assert.ok(joined)
  const projects = await store.internProjects(PROJECTS)
  const projectId = at(projects, 0)
  const jobs = await store.internJobs(['one', 'two'].map((name) => ({ projectId, name })))
  const lanes: number[] = []
  for (const queue of ['a', 'b', 'c']) {
    const spec = { project: 'alpha', queue, labels: [], executor: 'handler:one', weight: 1 }
    lanes.push(...(await store.internLanes([spec])))
  }
  const gates: number[] = []
  for (const [gate, capacity] of CAPACITIES.entries()) {
    gates.push(...(await store.internGates([{ projectId, name: gateName(gate), capacity }])))
  }
  let seen = 0
  const changes = async () => {
    const rows = await readAfter(seen)
    seen += rows.length
    return rows
  }
  return { store, node: joined.node, projects, jobs, lanes, gates, changes }
}
