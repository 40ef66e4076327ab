import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, DAY_MS, HOUR_MS, ids, only, runIds } from '../fixture.ts'
import { SUCCEEDED_OUTCOME, transitionFrom, withWorkflows } from '../workflows/workflow-fixture.ts'
import { onFreshStores, type OpenStore, type StoreWorld } from '../world.ts'

async function pruneAll(world: StoreWorld, endedBefore: number, limit = 1_000): Promise<void> {
  for (let more = true, batches = 0; more; batches += 1) {
    assert.ok(batches < 100, 'pruning never ends')
    more = (await world.store.prune({ endedBefore, limit })).more
  }
}

async function runsThatEnded(world: StoreWorld, count: number): Promise<number[]> {
  const ended: number[] = []
  for (const to of Array.from({ length: count }, () => 'succeeded' as const)) {
    const lease = await world.start()
    await world.end(lease, { to })
    ended.push(lease.runId)
  }
  return ended
}

export function maintenanceContract(open: OpenStore): void {
  const inWorld = onFreshStores(open)

  test(
    'a healthy store answers ping and probe',
    inWorld(async ({ store }) => {
      await store.ping()
      await store.probe()
      await store.probe()
      await store.inspect()
      const free = await store.freeBytes()
      assert.ok(free === null || free > 0)
      assert.ok(store.location.length > 0 && !store.location.includes('@'), store.location)
      assert.ok(store.version.length > 0)
      assert.ok(store.ticksInFlight >= 1 && store.tickCap >= 1)
    }),
  )

  test(
    'runs that ended before the time are deleted; runs that ended at it or later are not',
    inWorld(async (world) => {
      const old = await runsThatEnded(world, 3)
      world.clock.advance(60 * DAY_MS)
      await world.store.maintain({ mayDelete: true })
      const limit = world.clock.now()
      const recent = await runsThatEnded(world, 3)
      world.clock.advance(30 * DAY_MS)
      await world.store.maintain({ mayDelete: true })
      await pruneAll(world, limit)
      assert.deepEqual(ids(await world.list()), recent.toReversed())
      for (const runId of old) {
        assert.equal(await world.store.findRun({ projectId: world.project, runId }), null)
      }
    }),
  )

  test(
    'pruning in small batches deletes all old runs, and then reports that there are no more',
    inWorld(async (world) => {
      await runsThatEnded(world, 7)
      world.clock.advance(60 * DAY_MS)
      await world.store.maintain({ mayDelete: true })
      await pruneAll(world, world.clock.now(), 2)
      assert.deepEqual(await world.list(), [])
      const again = await world.store.prune({ endedBefore: world.clock.now(), limit: 2 })
      assert.deepEqual(again, { more: false })
    }),
  )

  test(
    'live runs survive pruning at any age, and can still be claimed, ended and found',
    inWorld(async (world) => {
      const gate = await world.gate('door', 1)
      const ready = world.newRun({ input: '"kept"', dedupeKey: 'k' })
      const scheduled = world.newRun({ dueAt: world.clock.now() + 91 * DAY_MS })
      const holder = world.newRun({ gates: [gate] })
      const blocked = world.newRun({ gates: [gate] })
      const running = world.newRun({ reservation: world.reservation() })
      await world.submit(ready, scheduled, holder, blocked, running)
      const live = ids([ready, scheduled, holder, blocked, running])
      await world.end(await startAside(world))
      world.clock.advance(90 * DAY_MS)
      await world.store.maintain({ mayDelete: true })
      await pruneAll(world, world.clock.now())
      assert.deepEqual(ids(await world.list()), live.toReversed())

      const again = await world.submit(world.newRun({ dedupeKey: 'k' }))
      assert.deepEqual(again, [{ kind: 'duplicate', id: ready.id }])
      const end = { runId: running.id, fence: running.reservation?.fence as number }
      assert.equal(await world.end(end, { result: '1' }), 'ended')
      const leases = await world.claim(9)
      assert.deepEqual(runIds(leases), [ready.id, holder.id])
      assert.equal(at(leases, 0).input, '"kept"')
      for (const lease of leases) assert.equal(await world.end(lease), 'ended')
      assert.equal(await world.stateOf(blocked.id), 'ready')
      world.clock.advance(DAY_MS)
      await world.store.promote({ positions: [world.mint()] })
      for (const lease of await world.claim(9)) assert.equal(await world.end(lease), 'ended')
      for (const id of live) assert.equal(await world.stateOf(id), 'succeeded')
    }),
  )

  test(
    'a long run is kept by when it ended, not by when it was submitted',
    inWorld(async (world) => {
      const lease = await world.start()
      world.clock.advance(90 * DAY_MS)
      await world.store.maintain({ mayDelete: true })
      await world.end(lease)
      await pruneAll(world, world.clock.now() - HOUR_MS)
      assert.equal(await world.stateOf(lease.runId), 'succeeded')
    }),
  )

  test(
    'the result of a step is kept until its workflow has ended, however long that takes',
    inWorld(async (base) => {
      const world = await withWorkflows(base)
      const { workflow, runs } = await world.beginWith(2)
      for (const lease of await world.claim(2)) await world.end(lease, { result: '"kept"' })
      const stranger = await runsThatEnded(world, 1)
      world.clock.advance(60 * DAY_MS)
      await world.store.maintain({ mayDelete: true })
      await pruneAll(world, world.clock.now())
      const found = await world.store.resultsOf({ runIds: [...ids(runs), ...stranger] })
      assert.deepEqual(
        found
          .map(({ runId, result }) => [runId, result])
          .toSorted(([a], [b]) => Number(a) - Number(b)),
        ids(runs).map((runId) => [runId, '"kept"']),
      )
      const processed = runs.map((_, step) => ({ step, item: -1 }))
      await world.advance(transitionFrom(workflow, { processed, end: SUCCEEDED_OUTCOME }))
      world.clock.advance(60 * DAY_MS)
      await world.store.maintain({ mayDelete: true })
      await pruneAll(world, world.clock.now())
      assert.deepEqual(await world.store.resultsOf({ runIds: ids(runs) }), [])
      assert.deepEqual(await world.list(), [])
    }),
  )

  test(
    'a pruned run is deleted with its attempts',
    inWorld(async (world) => {
      const first = await world.start()
      await world.end(first, { to: 'retry', cause: 'exit' })
      const second = only(await world.claim(1))
      await world.end(second)
      world.clock.advance(60 * DAY_MS)
      await world.store.maintain({ mayDelete: true })
      await pruneAll(world, world.clock.now())
      const found = await world.store.findAttempts([first, second])
      assert.deepEqual(found, [{ kind: 'stale' }, { kind: 'stale' }])
      assert.equal(await world.end(second), 'stale')
      assert.deepEqual(await world.cancel(first.runId), { kind: 'unknown' })
    }),
  )

  test(
    'maintenance may run at any time and deletes nothing that is needed',
    inWorld(async (world) => {
      const until = world.clock.now() + DAY_MS
      const keyed = { idempotency: { key: 'k', digest: 'd', until } }
      const run = world.newRun(keyed)
      await world.submit(run)
      for (const stepMs of [0, 0, HOUR_MS, DAY_MS - HOUR_MS - 1]) {
        world.clock.advance(stepMs)
        await world.store.maintain({ mayDelete: true })
      }
      assert.deepEqual(await world.submit(world.newRun(keyed)), [{ kind: 'duplicate', id: run.id }])
      world.clock.advance(1)
      await world.store.maintain({ mayDelete: true })
      const fresh = { idempotency: { ...keyed.idempotency, until: until + DAY_MS } }
      assert.deepEqual(await world.submit(world.newRun(fresh)), [{ kind: 'inserted' }])
      const { alive } = await world.store.heartbeat({ node: world.node, ttlMs: 1_000, idMark: 0 })
      assert.ok(alive, 'maintenance deletes no node that was not declared dead')
    }),
  )
}

/** Starts a run while others are ready, by giving it a higher rank. */
async function startAside(world: StoreWorld) {
  await world.submit(world.newRun({ rank: -10 }))
  return only(await world.claim(1))
}
