import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sortedNumbers, at, DAY_MS, ids, only, runIds } from '../fixture.ts'
import { onFreshStores, onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

function positions(world: StoreWorld, count: number): number[] {
  return Array.from({ length: count }, () => world.mint())
}

export function timersContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)
  const onNewStore = onFreshStores(open)

  test(
    'only due timers are promoted, and the result says when the next is due',
    inWorld(async (world) => {
      const now = world.clock.now()
      const runs = [1_000, 2_000, 3_001].map((ms) => world.newRun({ dueAt: now + ms }))
      await world.submit(...runs)
      const early = await world.store.promote({ positions: positions(world, 9) })
      assert.deepEqual(early, { promoted: 0, lanes: [], nextDueAt: now + 1_000 })
      world.clock.advance(999)
      assert.equal((await world.store.promote({ positions: positions(world, 9) })).promoted, 0)
      world.clock.advance(2_001)
      const due = await world.store.promote({ positions: positions(world, 9) })
      assert.deepEqual(due, { promoted: 2, lanes: [world.lane], nextDueAt: now + 3_001 })
      assert.deepEqual(runIds(await world.claim(9)), ids(runs.slice(0, 2)))
      assert.equal(await world.stateOf(at(runs, 2).id), 'scheduled')
    }),
  )

  test(
    'with no timer left there is no next time',
    inWorld(async (world) => {
      const none = { promoted: 0, lanes: [], nextDueAt: null }
      assert.deepEqual(await world.store.promote({ positions: positions(world, 3) }), none)
      await world.submit(world.newRun({ dueAt: world.clock.now() + 5 }))
      world.clock.advance(5)
      const last = await world.store.promote({ positions: positions(world, 3) })
      assert.deepEqual([last.promoted, last.nextDueAt], [1, null])
      assert.deepEqual(await world.store.promote({ positions: positions(world, 3) }), none)
    }),
  )

  test(
    'timers are promoted oldest first, however they were submitted, each to the next position',
    inWorld(async (world) => {
      const now = world.clock.now()
      const delays = [500, 100, 400, 200, 300]
      const runs = delays.map((ms) => world.newRun({ dueAt: now + ms }))
      await world.submit(...runs)
      world.clock.advance(1_000)
      const places = positions(world, 5)
      const first = await world.store.promote({ positions: places.slice(0, 2) })
      assert.deepEqual([first.promoted, first.nextDueAt], [2, now + 300])
      assert.equal((await world.store.promote({ positions: places.slice(2) })).promoted, 3)
      const leases = await world.claim(9)
      const byDueAt = runs.toSorted((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0))
      assert.deepEqual(runIds(leases), ids(byDueAt))
      assert.deepEqual(
        leases.map(({ pos }) => pos),
        places,
      )
      assert.deepEqual(
        leases.map(({ dueAt }) => dueAt),
        byDueAt.map(({ dueAt }) => dueAt),
      )
    }),
  )

  test(
    'runs due at the same millisecond are promoted by age',
    inWorld(async (world) => {
      const runs = world.newRuns(6, { dueAt: world.clock.now() + 10 })
      await world.submit(...runs.toReversed())
      world.clock.advance(10)
      await world.store.promote({ positions: positions(world, 4) })
      assert.deepEqual(runIds(await world.claim(9)), ids(runs.slice(0, 4)))
    }),
  )

  test(
    'without positions nothing is promoted',
    inWorld(async (world) => {
      const dueAt = world.clock.now() + 1
      await world.submit(world.newRun({ dueAt }))
      world.clock.advance(1)
      const none = await world.store.promote({ positions: [] })
      assert.deepEqual(none, { promoted: 0, lanes: [], nextDueAt: dueAt })
    }),
  )

  test(
    'a retried run does not pass runs that were ready before it came back',
    inWorld(async (world) => {
      const lease = await world.start()
      const older = world.newRun()
      await world.submit(older)
      await world.end(lease, { to: 'retry', cause: 'error', delayMs: 1_000 })
      world.clock.advance(1_000)
      await world.store.promote({ positions: [world.mint()] })
      const younger = world.newRun()
      await world.submit(younger)
      const leases = await world.claim(9)
      assert.deepEqual(runIds(leases), [older.id, lease.runId, younger.id])
      assert.equal(at(leases, 1).attempt, 2)
    }),
  )

  test(
    'rank decides before age for promoted runs as well',
    inWorld(async (world) => {
      const urgent = world.newRun({ rank: -5, dueAt: world.clock.now() + 10 })
      const plain = world.newRun()
      await world.submit(urgent, plain)
      world.clock.advance(10)
      await world.store.promote({ positions: [world.mint()] })
      assert.deepEqual(runIds(await world.claim(9)), [urgent.id, plain.id])
    }),
  )

  test(
    'every lane that received runs is listed once',
    inWorld(async (world) => {
      const other = await world.internLane('other')
      const dueAt = world.clock.now() + 10
      await world.submit(
        ...world.newRuns(2, { dueAt }),
        ...world.newRuns(2, { dueAt, laneId: other }),
      )
      world.clock.advance(10)
      const { lanes } = await world.store.promote({ positions: positions(world, 9) })
      assert.deepEqual(sortedNumbers(lanes), sortedNumbers([world.lane, other]))
    }),
  )

  test(
    'a gated timer passes its gate when it comes due, or waits there',
    inWorld(async (world) => {
      const gates = [await world.gate('door', 1)]
      const runs = world.newRuns(2, { gates, dueAt: world.clock.now() + 10 })
      await world.submit(...runs)
      world.clock.advance(10)
      const { promoted, nextDueAt } = await world.store.promote({ positions: positions(world, 9) })
      assert.deepEqual([promoted, nextDueAt], [2, null])
      assert.equal(await world.stateOf(at(runs, 0).id), 'ready')
      assert.equal(await world.stateOf(at(runs, 1).id), 'blocked')
      await world.end(only(await world.claim(9)))
      assert.deepEqual(runIds(await world.claim(9)), [at(runs, 1).id])
    }),
  )

  test(
    'a time decades ahead is kept to the millisecond and does not fire before',
    onNewStore(async (world) => {
      const dueAt = Date.UTC(2079, 11, 31, 23, 59, 59, 999)
      const run = world.newRun({ dueAt, timeoutMs: 50 * 366 * DAY_MS })
      assert.equal((await world.tick({ submits: [run] })).nextDueAt, dueAt)
      const { promoted, nextDueAt } = await world.store.promote({ positions: positions(world, 1) })
      assert.deepEqual([promoted, nextDueAt], [0, dueAt])
      const record = await world.find(run.id)
      assert.deepEqual([record.dueAt, record.timeoutMs], [dueAt, 50 * 366 * DAY_MS])
      world.clock.advance(dueAt - world.clock.now() - 1)
      assert.equal((await world.store.promote({ positions: positions(world, 1) })).promoted, 0)
      world.clock.advance(1)
      assert.equal((await world.store.promote({ positions: positions(world, 1) })).promoted, 1)
    }),
  )

  test(
    'a retry delay of years is kept',
    inWorld(async (world) => {
      const lease = await world.start()
      const delayMs = 20 * 365 * DAY_MS
      await world.end(lease, { to: 'retry', cause: 'error', delayMs })
      const { nextDueAt } = await world.store.promote({ positions: positions(world, 1) })
      assert.equal(nextDueAt, world.clock.now() + delayMs)
    }),
  )

  test(
    'a clock that steps back promotes nothing early and loses nothing',
    onNewStore(async (world) => {
      const dueAt = world.clock.now() + 1_000
      await world.submit(world.newRun({ dueAt }))
      world.clock.advance(-DAY_MS)
      const back = await world.store.promote({ positions: positions(world, 1) })
      assert.deepEqual([back.promoted, back.nextDueAt], [0, dueAt])
      world.clock.advance(DAY_MS + 1_000)
      assert.equal((await world.store.promote({ positions: positions(world, 1) })).promoted, 1)
    }),
  )

  test(
    'timers promoted by many at once are promoted once',
    inWorld(async (world) => {
      const runs = world.newRuns(40, { dueAt: world.clock.now() + 10 })
      await world.submit(...runs)
      world.clock.advance(10)
      const places = Array.from({ length: 6 }, () => positions(world, 10))
      const sweeps = await Promise.all(
        places.map((given) => world.store.promote({ positions: given })),
      )
      let promoted = sweeps.reduce((sum, sweep) => sum + sweep.promoted, 0)
      promoted += (await world.store.promote({ positions: positions(world, 40) })).promoted
      assert.equal(promoted, 40)
      assert.equal(new Set(runIds(await world.claim(99))).size, 40)
    }),
  )
}
