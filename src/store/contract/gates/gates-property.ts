import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Lease } from '../../port.ts'
import { sortedNumbers, HOUR_MS } from '../fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

type Step =
  | { kind: 'submit'; needs: readonly number[]; delayMs: number | null; rank: number }
  | { kind: 'claim'; count: number }
  | { kind: 'end'; pick: number; how: 'succeeded' | 'failed' | 'later' | 'at_once' | 'given_back' }
  | { kind: 'cancel'; pick: number }
  | { kind: 'advance'; ms: number }
  | { kind: 'promote'; count: number }
  | { kind: 'recheck'; limit: number }
  | { kind: 'resize'; gate: number; capacity: number }

const GATES = [0, 1, 2] as const
const pick = fc.nat(1_000)
const submit = fc.record({
  kind: fc.constant('submit' as const),
  needs: fc.subarray([...GATES], { minLength: 1 }),
  delayMs: fc.option(fc.integer({ min: 1, max: 2_000 })),
  rank: fc.integer({ min: -2, max: 2 }),
})
const steps = fc.array(
  fc.oneof<fc.WeightedArbitrary<Step>[]>(
    { weight: 5, arbitrary: submit },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('claim'), count: fc.integer({ min: 1, max: 4 }) }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('end'),
        pick,
        how: fc.constantFrom('succeeded', 'failed', 'later', 'at_once', 'given_back'),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel'), pick }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('advance'),
        ms: fc.integer({ min: 0, max: 90_000 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('promote'), count: fc.integer({ min: 1, max: 3 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('recheck'), limit: fc.integer({ min: 1, max: 3 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('resize'),
        gate: fc.constantFrom(...GATES),
        capacity: fc.integer({ min: 0, max: 3 }),
      }),
    },
  ),
  { minLength: 5, maxLength: 30 },
)

/** Three gates and a lane per sequence, so that one store serves all sequences. */
interface TestGates {
  readonly laneId: number
  readonly gates: readonly number[]
  readonly names: readonly string[]
  /** The largest capacity since the gate last had fewer holders than that. */
  readonly capacity: number[]
  readonly leases: Lease[]
  readonly runs: number[]
}

const RECHECK = { recheckMs: 30_000 }
let sequences = 0

export function gatesPropertyContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'no gate exceeds its capacity, no run holds only some of its gates, and none is stuck',
    inWorld(async (world) => {
      await fc.assert(
        fc.asyncProperty(steps, async (sequence) => {
          const doors = await createTestGates(world)
          for (const step of sequence) {
            const before = await holders(world, doors)
            await take(world, doors, step)
            assertWithinCapacity(doors, before, await holders(world, doors))
          }
          await assertEverythingEnds(world, doors)
        }),
        { numRuns: 25 },
      )
    }),
  )
}

async function createTestGates(world: StoreWorld): Promise<TestGates> {
  sequences += 1
  const names = GATES.map((gate) => `door-${sequences}-${gate}`)
  const capacity = [1, 2, 1]
  const gates = await world.store.internGates(
    names.map((name, index) => ({
      projectId: world.project,
      name,
      capacity: capacity[index] ?? 0,
    })),
  )
  const laneId = await world.internLane(`lane-${sequences}`)
  return { laneId, gates, names, capacity, leases: [], runs: [] }
}

async function take(world: StoreWorld, doors: TestGates, step: Step): Promise<void> {
  switch (step.kind) {
    case 'submit': {
      const gates = sortedNumbers(step.needs.map((need) => doors.gates[need] as number))
      const dueAt = step.delayMs === null ? null : world.clock.now() + step.delayMs
      const run = world.newRun({ laneId: doors.laneId, gates, dueAt, rank: step.rank })
      doors.runs.push(run.id)
      await world.submit(run)
      return
    }
    case 'claim':
      doors.leases.push(...(await world.claim(step.count, { laneId: doors.laneId })))
      return
    case 'end': {
      const lease = doors.leases.splice(step.pick % Math.max(1, doors.leases.length), 1)[0]
      if (lease) assert.equal(await world.end(lease, ending(world, step.how)), 'ended')
      return
    }
    case 'cancel': {
      const runId = doors.runs[step.pick % Math.max(1, doors.runs.length)]
      if (runId !== undefined) await world.cancel(runId)
      return
    }
    case 'advance':
      return world.clock.advance(step.ms)
    case 'promote':
      await world.store.promote({ positions: Array.from({ length: step.count }, world.mint) })
      return
    case 'recheck':
      assert.deepEqual(
        (await world.store.recheck({ ...RECHECK, limit: step.limit })).miscounted,
        [],
      )
      return
    case 'resize':
      doors.capacity[step.gate] = step.capacity
      await world.gate(doors.names[step.gate] as string, step.capacity)
  }
}

function ending(world: StoreWorld, how: Extract<Step, { kind: 'end' }>['how']) {
  switch (how) {
    case 'succeeded':
      return { to: how }
    case 'failed':
      return { to: how, cause: 'exit' } as const
    case 'later':
      return { to: 'retry', cause: 'error', delayMs: 1_500 } as const
    case 'at_once':
      return { to: 'retry', cause: 'lost', pos: world.mint() } as const
    case 'given_back':
      return { to: how }
  }
}

/** Recounted from stored runs, never from a counter: the runs that passed each gate. */
async function holders(world: StoreWorld, doors: TestGates): Promise<ReadonlySet<number>[]> {
  const live = (await world.list()).filter(({ state }) => state === 'ready' || state === 'running')
  return doors.gates.map(
    (gate) => new Set(live.filter(({ gates }) => gates.includes(gate)).map(({ id }) => id)),
  )
}

/** A gate whose capacity was lowered may exceed it, but then admits no new run. */
function assertWithinCapacity(
  doors: TestGates,
  before: readonly ReadonlySet<number>[],
  after: readonly ReadonlySet<number>[],
): void {
  for (const [index, now] of after.entries()) {
    const capacity = doors.capacity[index] as number
    const arrived = [...now].filter((runId) => !before[index]?.has(runId))
    if (arrived.length > 0)
      assert.ok(now.size <= capacity, `${now.size} passed a gate for ${capacity}`)
    else assert.ok(now.size <= Math.max(capacity, before[index]?.size ?? 0))
  }
}

/** With enough slots and time, sweeps and claims alone bring every run to its end. */
async function assertEverythingEnds(world: StoreWorld, doors: TestGates): Promise<void> {
  for (const name of doors.names) await world.gate(name, 50)
  for (let round = 0; round < 60; round += 1) {
    world.clock.advance(HOUR_MS)
    await world.store.promote({ positions: Array.from({ length: 50 }, world.mint) })
    await world.store.recheck({ limit: 100, recheckMs: 1_000 })
    doors.leases.push(...(await world.claim(50, { laneId: doors.laneId })))
    for (const lease of doors.leases.splice(0)) await world.end(lease)
    const counts = await world.store.liveCounts()
    if (Object.values(counts).every((count) => count === 0)) return
  }
  assert.fail(`runs are stuck: ${JSON.stringify(await world.store.liveCounts())}`)
}
