import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndCommand, NewRun } from '../../port.ts'
import { sortedNumbers, at, endCommandFor, HOUR_MS, ids, only, runIds } from '../fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

/** Gates with one slot each, as ascending ids. */
async function createGates(
  world: StoreWorld,
  capacities: Readonly<Record<string, number>>,
): Promise<number[]> {
  const gates: number[] = []
  for (const [name, capacity] of Object.entries(capacities)) {
    gates.push(await world.gate(name, capacity))
  }
  return sortedNumbers(gates)
}

async function readyIds(world: StoreWorld): Promise<number[]> {
  const runs = await world.list()
  return sortedNumbers(ids(runs.filter(({ state }) => state === 'ready')))
}

const RELEASES: readonly [why: string, end: Partial<EndCommand>][] = [
  ['succeeded', { to: 'succeeded' }],
  ['failed', { to: 'failed', cause: 'exit' }],
  ['was cancelled', { to: 'cancelled', cause: 'cancelled' }],
  ['waits for its retry', { to: 'retry', cause: 'error', delayMs: 1_000 }],
]

const KEEPS: readonly [why: string, end: Partial<EndCommand>][] = [
  ['is retried at once', { to: 'retry', cause: 'lost', lost: 1 }],
  ['is given back', { to: 'given_back' }],
]

export function gatesContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  for (const [why, end] of RELEASES) {
    test(
      `a run that ${why} frees a slot for the next in the same tick`,
      inWorld(async (world) => {
        const gates = await createGates(world, { door: 1 })
        const [first, second, third] = world.newRuns(3, { gates })
        assert.ok(first && second && third)
        await world.submit(first, second, third)
        const lease = only(await world.claim(3))
        assert.equal(lease.runId, first.id)
        assert.equal(await world.end(lease, end), 'ended')
        assert.equal(await world.stateOf(second.id), 'ready')
        assert.equal(await world.stateOf(third.id), 'blocked')
        const next = only(await world.claim(3))
        assert.deepEqual([next.runId, next.attempt, next.pos], [second.id, 1, second.id])
      }),
    )
  }

  for (const [why, end] of KEEPS) {
    test(
      `a run that ${why} does not admit another`,
      inWorld(async (world) => {
        const gates = await createGates(world, { door: 1 })
        const [first, second] = world.newRuns(2, { gates })
        assert.ok(first && second)
        await world.submit(first, second)
        const lease = only(await world.claim(2))
        await world.end(lease, { ...end, pos: world.mint() })
        assert.equal(await world.stateOf(second.id), 'blocked')
        assert.deepEqual(runIds(await world.claim(2)), [first.id])
      }),
    )
  }

  test(
    'a release names the lane it refilled',
    inWorld(async (world) => {
      const gates = await createGates(world, { door: 1 })
      const other = await world.internLane('other')
      const lease = await world.start({ gates })
      await world.submit(world.newRun({ gates, laneId: other }))
      const { refilled } = await world.tick({ ends: [endCommandFor(lease)] })
      assert.deepEqual(refilled, [other])
    }),
  )

  test(
    'of a batch larger than the free slots, the oldest pass',
    inWorld(async (world) => {
      const gates = await createGates(world, { door: 3 })
      const runs = world.newRuns(7, { gates })
      await world.submit(...runs.slice(0, 5))
      await world.submit(...runs.slice(5))
      assert.deepEqual(await readyIds(world), ids(runs.slice(0, 3)))
      assert.deepEqual(await world.store.liveCounts(), {
        ready: 3,
        scheduled: 0,
        blocked: 4,
        running: 0,
      })
    }),
  )

  test(
    'a run takes all its gates or none',
    inWorld(async (world) => {
      const [left, right] = await createGates(world, { left: 1, right: 1 })
      assert.ok(left && right)
      const holdsRight = world.newRun({ gates: [right] })
      const both = world.newRun({ gates: [left, right] })
      const wantsLeft = world.newRun({ gates: [left] })
      await world.submit(holdsRight)
      await world.submit(both)
      assert.equal(await world.stateOf(both.id), 'blocked')
      // Had `both` kept the left gate while it waits for the right one, this would be blocked.
      await world.submit(wantsLeft)
      assert.deepEqual(await readyIds(world), sortedNumbers([holdsRight.id, wantsLeft.id]))
      const leases = await world.claim(2)
      await world.end(at(leases, 0))
      assert.equal(await world.stateOf(both.id), 'blocked')
      await world.end(at(leases, 1))
      assert.equal(await world.stateOf(both.id), 'ready')
    }),
  )

  test(
    'of two runs that arrive at once the first in order passes, also when they wait at different gates',
    inWorld(async (world) => {
      const [left, right] = await createGates(world, { left: 1, right: 1 })
      assert.ok(left && right)
      const older = world.newRun({ gates: [right] })
      const both = world.newRun({ gates: [left, right] })
      const urgent = world.newRun({ gates: [left], rank: -1 })
      await world.submit(both, older)
      assert.deepEqual(await readyIds(world), [older.id])
      await world.cancel(older.id)
      assert.deepEqual(await readyIds(world), [both.id])
      await world.cancel(both.id)
      await world.submit(world.newRun({ gates: [left, right] }), urgent)
      assert.deepEqual(await readyIds(world), [urgent.id])
    }),
  )

  test(
    'a gate without capacity admits nothing until it gets some',
    inWorld(async (world) => {
      const gates = await createGates(world, { door: 0 })
      const runs = world.newRuns(3, { gates })
      await world.submit(...runs)
      world.clock.advance(HOUR_MS)
      await world.store.recheck({ limit: 10, recheckMs: 1_000 })
      assert.deepEqual(await readyIds(world), [])
      await world.gate('door', 2)
      world.clock.advance(1_000)
      const { lanes } = await world.store.recheck({ limit: 10, recheckMs: 1_000 })
      assert.deepEqual(lanes, [world.lane])
      assert.deepEqual(await readyIds(world), ids(runs.slice(0, 2)))
    }),
  )

  test(
    'a recheck skips runs whose recheck time has not come',
    inWorld(async (world) => {
      const gates = await createGates(world, { door: 0 })
      await world.submit(world.newRun({ gates }))
      world.clock.advance(HOUR_MS)
      await world.store.recheck({ limit: 10, recheckMs: 60_000 })
      await world.gate('door', 1)
      world.clock.advance(59_999)
      assert.deepEqual((await world.store.recheck({ limit: 10, recheckMs: 60_000 })).lanes, [])
      assert.deepEqual(await readyIds(world), [])
      world.clock.advance(1)
      await world.store.recheck({ limit: 10, recheckMs: 60_000 })
      assert.equal((await readyIds(world)).length, 1)
    }),
  )

  test(
    'rechecks of any size reach every blocked run, and report when there are no more',
    inWorld(async (world) => {
      // A gate each, so that none is admitted by another's recheck.
      const names = Array.from({ length: 9 }, (_, index) => `door-${index}`)
      const runs: NewRun[] = []
      for (const name of names) runs.push(world.newRun({ gates: [await world.gate(name, 0)] }))
      await world.submit(...runs)
      for (const name of names) await world.gate(name, 1)
      world.clock.advance(HOUR_MS)
      for (let more = true, batches = 0; more; batches += 1) {
        assert.ok(batches < 10, 'rechecking never ends')
        more = (await world.store.recheck({ limit: 2, recheckMs: 60_000 })).more
      }
      assert.deepEqual(await readyIds(world), ids(runs))
      const idle = await world.store.recheck({ limit: 2, recheckMs: 60_000 })
      assert.deepEqual(idle, {
        lanes: [],
        more: false,
        nextDueAt: null,
        signals: [],
        miscounted: [],
      })
    }),
  )

  test(
    'lowering a capacity removes no holder but admits no other',
    inWorld(async (world) => {
      const gates = await createGates(world, { door: 3 })
      const runs = world.newRuns(4, { gates })
      await world.submit(...runs)
      await world.gate('door', 1)
      const leases = await world.claim(9)
      assert.equal(leases.length, 3)
      await world.end(at(leases, 0))
      await world.end(at(leases, 1))
      assert.equal(await world.stateOf(at(runs, 3).id), 'blocked')
      await world.end(at(leases, 2))
      assert.equal(await world.stateOf(at(runs, 3).id), 'ready')
    }),
  )

  test(
    'a retried run passes its gate again, behind the one that waited',
    inWorld(async (world) => {
      const gates = await createGates(world, { door: 1 })
      const lease = await world.start({ gates })
      const waiter = world.newRun({ gates })
      await world.submit(waiter)
      await world.end(lease, { to: 'retry', cause: 'error', delayMs: 1_000 })
      world.clock.advance(1_000)
      await world.store.promote({ positions: [world.mint()] })
      assert.equal(await world.stateOf(lease.runId), 'blocked')
      const next = only(await world.claim(2))
      assert.equal(next.runId, waiter.id)
      await world.end(next)
      const again = only(await world.claim(2))
      assert.deepEqual([again.runId, again.attempt], [lease.runId, 2])
      assert.deepEqual((await world.find(again.runId)).gates, gates)
    }),
  )

  test(
    'gates of two projects with one name are two gates',
    inWorld(async (world) => {
      const gate = await world.gate('door', 1)
      const named = { projectId: world.otherProject, name: 'door', capacity: 1 }
      const other = only(await world.store.internGates([named]))
      assert.notEqual(gate, other)
      await world.submit(world.newRun({ gates: [gate] }))
      const theirs = world.newRun({ gates: [other], projectId: world.otherProject })
      await world.submit(theirs)
      const found = await world.store.findRun({ projectId: world.otherProject, runId: theirs.id })
      assert.equal(found?.state, 'ready')
    }),
  )
}
