import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, GRACE_MS, ids, NODE_TTL_MS, runIds } from '../fixture.ts'
import { adoptInto } from '../sessions/session-binding.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

const ALL = { after: 0, limit: 100 }

/** The world's node dies; returns the node that exists afterwards, with any grace period over. */
async function loseNode(world: StoreWorld): Promise<number> {
  const successor = await world.join('successor')
  if (world.exclusive) {
    world.clock.advance(GRACE_MS)
  } else {
    world.clock.advance(NODE_TTL_MS + 1)
    await world.store.heartbeat({
      node: successor.node,
      ttlMs: NODE_TTL_MS,
      idMark: successor.idFloor,
    })
    await world.store.declareDeadNodes()
  }
  return successor.node
}

export function orphansContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'leases of a live node are not orphans, however old',
    inWorld(async (world) => {
      await world.start({ timeoutMs: 1 })
      for (let round = 0; round < 4; round += 1) {
        world.clock.advance(NODE_TTL_MS - 1)
        await world.store.heartbeat({ node: world.node, ttlMs: NODE_TTL_MS, idMark: world.mint() })
        await world.store.declareDeadNodes()
        assert.deepEqual(await world.store.orphans(ALL), [])
      }
    }),
  )

  test(
    'leases of a dead node are orphans, in pages by run id',
    inWorld(async (world) => {
      const runs = world.newRuns(5)
      await world.submit(...runs)
      const leases = await world.claim(5)
      await loseNode(world)
      const first = await world.store.orphans({ after: 0, limit: 2 })
      const rest = await world.store.orphans({ after: at(first, 1).runId, limit: 9 })
      assert.deepEqual(runIds([...first, ...rest]), ids(runs))
      assert.deepEqual(at(first, 0), at(leases, 0))
    }),
  )

  test(
    'finding orphans changes nothing; only an end does',
    inWorld(async (world) => {
      const lease = await world.start()
      const node = await loseNode(world)
      assert.equal((await world.store.orphans(ALL)).length, 1)
      assert.equal((await world.store.orphans(ALL)).length, 1)
      assert.equal(await world.stateOf(lease.runId), 'running')
      const end = { to: 'retry', cause: 'lost', lost: 1, owner: world.node } as const
      assert.equal(await world.end(lease, end), 'ended')
      assert.deepEqual(await world.store.orphans(ALL), [])
      const claims = [world.demand(1)]
      const [again] = (await world.tick({ node, claims })).claims.flat()
      assert.deepEqual([again?.runId, again?.attempt, again?.node], [lease.runId, 2, node])
    }),
  )

  test(
    'a worker that outlived its node may still end its attempt',
    inWorld(async (world) => {
      const lease = await world.start()
      await loseNode(world)
      assert.equal(await world.end(lease), 'ended')
      assert.deepEqual(await world.store.orphans(ALL), [])
    }),
  )

  test(
    'the leases of a node that leaves are orphans at once',
    inWorld(async (world) => {
      const lease = await world.start()
      assert.deepEqual(await world.store.orphans(ALL), [])
      await world.store.leave({ node: world.node, idMark: world.mint() })
      assert.deepEqual(runIds(await world.store.orphans(ALL)), [lease.runId])
    }),
  )

  test(
    'a restart gives workers their grace before leases become orphans (exclusive stores)',
    inWorld(async (world, t) => {
      if (!world.exclusive) return t.skip('a shared store')
      const lease = await world.start()
      await world.join()
      assert.deepEqual(await world.store.orphans(ALL), [])
      world.clock.advance(GRACE_MS - 1)
      assert.deepEqual(await world.store.orphans(ALL), [])
      world.clock.advance(1)
      assert.deepEqual(runIds(await world.store.orphans(ALL)), [lease.runId])
    }),
  )

  test(
    'an expired node that was not declared dead has no orphans yet (shared stores)',
    inWorld(async (world, t) => {
      if (world.exclusive) return t.skip('an exclusive store')
      await world.start()
      world.clock.advance(10 * NODE_TTL_MS)
      assert.deepEqual(await world.store.orphans(ALL), [])
      await world.store.declareDeadNodes()
      assert.equal((await world.store.orphans(ALL)).length, 1)
    }),
  )

  test(
    'an adopted lease is no orphan of its old node',
    inWorld(async (world) => {
      const lease = await world.start()
      const node = await loseNode(world)
      const { runId, fence, session } = lease
      await adoptInto(world.store, { node, session, held: [{ runId, fence }] })
      assert.deepEqual(await world.store.orphans(ALL), [])
      assert.deepEqual(runIds(await world.store.ownLeases({ node, ...ALL })), [runId])
    }),
  )

  test(
    'a cancel mark survives the death of the node that held the lease',
    inWorld(async (world) => {
      const lease = await world.start()
      await world.cancel(lease.runId)
      await loseNode(world)
      assert.equal(at(await world.store.orphans(ALL), 0).cancelling, true)
      await world.end(lease, { to: 'retry', cause: 'lost', lost: 1 })
      assert.equal(await world.stateOf(lease.runId), 'cancelled')
    }),
  )
}
