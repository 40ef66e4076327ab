import assert from 'node:assert/strict'
import { adoptInto } from '../sessions/session-binding.ts'
import { test } from 'node:test'
import { IDS_PER_MS, SLOTS } from '../../../core/ids.ts'
import type { JoinedNode, Store } from '../../port.ts'
import { NODE_TTL_MS } from '../fixture.ts'
import { onFreshStores, type OpenStore, type StoreWorld } from '../world.ts'

/** The world's node has a slot already; these take all the others. */
async function fillSlots(world: StoreWorld): Promise<JoinedNode[]> {
  const joined: JoinedNode[] = []
  while (joined.length < SLOTS - 1) joined.push(await world.join())
  return joined
}

function tryJoin(store: Store): Promise<JoinedNode | null> {
  return store.join({ name: 'late', ttlMs: NODE_TTL_MS, graceMs: 0 })
}

const heartbeat = (world: StoreWorld, node: number, idMark = world.mint()) =>
  world.store.heartbeat({ node, ttlMs: NODE_TTL_MS, idMark })

export function nodesContract(open: OpenStore): void {
  const inWorld = onFreshStores(open)

  test(
    'incarnations grow and are never used twice',
    inWorld(async (world) => {
      const seen = [world.node]
      for (let round = 0; round < 5; round += 1) {
        const { node, slot, now } = await world.join('same-name')
        assert.ok(node > Math.max(...seen))
        assert.ok(slot >= 0 && slot < SLOTS)
        assert.equal(now, world.clock.now())
        seen.push(node)
        const alive = await world.store.countNodes()
        await world.store.leave({ node, idMark: world.mint() })
        assert.equal(await world.store.countNodes(), alive - 1)
      }
    }),
  )

  test(
    'a node that heartbeats in time stays alive',
    inWorld(async (world) => {
      for (let round = 0; round < 5; round += 1) {
        world.clock.advance(NODE_TTL_MS - 1)
        assert.deepEqual(await heartbeat(world, world.node), {
          alive: true,
          now: world.clock.now(),
        })
        assert.deepEqual(await world.store.declareDeadNodes(), [])
      }
    }),
  )

  test(
    'a node that was declared dead stays dead, whatever heartbeats it sends',
    inWorld(async (world) => {
      const successor = await killNode(world)
      for (let round = 0; round < 3; round += 1) {
        assert.equal((await heartbeat(world, world.node)).alive, false)
        assert.equal((await heartbeat(world, successor)).alive, true)
      }
    }),
  )

  test(
    'an unknown node is not alive, and a heartbeat does not make it alive',
    inWorld(async (world) => {
      assert.equal((await heartbeat(world, world.node + 100)).alive, false)
      assert.equal((await heartbeat(world, world.node + 100)).alive, false)
    }),
  )

  test(
    'a node that left is not alive',
    inWorld(async (world) => {
      await world.store.leave({ node: world.node, idMark: world.mint() })
      assert.equal((await heartbeat(world, world.node)).alive, false)
      assert.deepEqual(await world.store.declareDeadNodes(), [])
    }),
  )

  test(
    'after an orderly leave ids continue from the mark it left',
    inWorld(async (world) => {
      if (!world.exclusive) await fillSlots(world)
      const idMark = world.mint()
      await world.store.leave({ node: world.node, idMark })
      const next = await world.join()
      assert.deepEqual([next.slot, next.idFloor], [world.slot, idMark])
    }),
  )

  test(
    'after a crash ids continue above everything the dead node could have minted (shared stores)',
    inWorld(async (world, t) => {
      if (world.exclusive) return t.skip('an exclusive store')
      const idMark = world.mint()
      await heartbeat(world, world.node, idMark)
      const successor = await killNode(world)
      const idFloor = idMark + NODE_TTL_MS * IDS_PER_MS
      // The order of free slots is not defined: the slot in question is among all of them.
      for (let taken = 1; taken < SLOTS; taken += 1) {
        const next = await world.join()
        assert.notEqual(next.node, successor)
        if (next.slot === world.slot) return assert.equal(next.idFloor, idFloor)
      }
      assert.fail('the slot of a buried node is free')
    }),
  )

  test(
    'after a crash no run id is minted again, and session ids, which are random, do not count',
    inWorld(async (world) => {
      const idMark = world.mint()
      await heartbeat(world, world.node, idMark)
      const lease = await world.start()
      const session = Number.MAX_SAFE_INTEGER
      await adoptInto(world.store, { node: world.node, session })
      const successor = await killNode(world)
      for (let taken = 1; taken < SLOTS; taken += 1) {
        const next = await world.join()
        assert.notEqual(next.node, successor)
        if (next.slot !== world.slot) continue
        assert.ok(next.idFloor >= lease.runId, 'an earlier run id could be minted again')
        return assert.ok(next.idFloor < session, 'ids would start in another century')
      }
    }),
  )

  test(
    'an id mark never goes back',
    inWorld(async (world) => {
      if (!world.exclusive) await fillSlots(world)
      const older = world.mint()
      const idMark = world.mint() + IDS_PER_MS
      await heartbeat(world, world.node, idMark)
      await heartbeat(world, world.node, older)
      await world.store.leave({ node: world.node, idMark: older })
      const next = await world.join()
      assert.ok(next.idFloor >= idMark)
    }),
  )

  test(
    'live nodes have different slots, and one node too many gets none (shared stores)',
    inWorld(async (world, t) => {
      if (world.exclusive) return t.skip('an exclusive store')
      const slots = [world.slot, ...(await fillSlots(world)).map(({ slot }) => slot)]
      assert.deepEqual(new Set(slots).size, SLOTS)
      assert.equal(await tryJoin(world.store), null)
      assert.equal(await tryJoin(world.store), null)
    }),
  )

  test(
    'a slot is free once its node left or was declared dead, and not before (shared stores)',
    inWorld(async (world, t) => {
      if (world.exclusive) return t.skip('an exclusive store')
      const [first, second] = await fillSlots(world)
      assert.ok(first && second)
      await world.store.leave({ node: first.node, idMark: world.mint() })
      assert.equal((await world.join()).slot, first.slot)
      assert.equal(await tryJoin(world.store), null)
      world.clock.advance(NODE_TTL_MS - 1)
      assert.deepEqual(await world.store.declareDeadNodes(), [])
    }),
  )

  test(
    'only nodes whose row has expired are declared dead, each once (shared stores)',
    inWorld(async (world, t) => {
      if (world.exclusive) return t.skip('an exclusive store')
      const [quiet, busy] = [await world.join(), await world.join()]
      world.clock.advance(NODE_TTL_MS - 1)
      await heartbeat(world, world.node)
      await heartbeat(world, busy.node)
      assert.deepEqual(await world.store.declareDeadNodes(), [])
      world.clock.advance(2)
      assert.deepEqual(await world.store.declareDeadNodes(), [quiet.node])
      assert.deepEqual(await world.store.declareDeadNodes(), [])
      assert.equal((await heartbeat(world, quiet.node)).alive, false)
      assert.equal((await heartbeat(world, busy.node)).alive, true)
    }),
  )

  test(
    'a node declared dead by many at once is reported by one (shared stores)',
    inWorld(async (world, t) => {
      if (world.exclusive) return t.skip('an exclusive store')
      const quiet = await world.join()
      world.clock.advance(NODE_TTL_MS + 1)
      await heartbeat(world, world.node)
      const reports = await Promise.all(
        Array.from({ length: 4 }, () => world.store.declareDeadNodes()),
      )
      assert.deepEqual(reports.flat(), [quiet.node])
    }),
  )

  test(
    'joining declares every earlier incarnation dead (exclusive stores)',
    inWorld(async (world, t) => {
      if (!world.exclusive) return t.skip('a shared store')
      const second = await world.join()
      assert.equal((await heartbeat(world, world.node)).alive, false)
      assert.equal((await heartbeat(world, second.node)).alive, true)
    }),
  )
}

/** Declares the world's node dead in the store's way; returns a live node. */
async function killNode(world: StoreWorld): Promise<number> {
  if (world.exclusive) return (await world.join('successor')).node
  const successor = await world.join('successor')
  world.clock.advance(NODE_TTL_MS + 1)
  await heartbeat(world, successor.node)
  assert.deepEqual(await world.store.declareDeadNodes(), [world.node])
  return successor.node
}
