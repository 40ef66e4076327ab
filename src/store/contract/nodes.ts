import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IDS_PER_MS, SLOTS } from '../../core/ids.ts'
import type { JoinedNode, Store } from '../port.ts'
import { NODE_TTL_MS } from './fixture.ts'
import { onFreshStores, type OpenStore, type World } from './world.ts'

/** The world's node has a slot already; these take all that are left. */
async function fillSlots(world: World): Promise<JoinedNode[]> {
  const joined: JoinedNode[] = []
  while (joined.length < SLOTS - 1) joined.push(await world.join())
  return joined
}

function tryJoin(store: Store): Promise<JoinedNode | null> {
  return store.join({ name: 'late', ttlMs: NODE_TTL_MS, graceMs: 0 })
}

const beat = (world: World, node: number, idMark = world.mint()) =>
  world.store.beat({ node, ttlMs: NODE_TTL_MS, idMark })

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
    'a node that beats in time stays alive and is not buried',
    inWorld(async (world) => {
      for (let round = 0; round < 5; round += 1) {
        world.clock.advance(NODE_TTL_MS - 1)
        assert.deepEqual(await beat(world, world.node), { alive: true, now: world.clock.now() })
        assert.deepEqual(await world.store.buryDead(), [])
      }
    }),
  )

  test(
    'a node that was declared dead stays dead, however it beats',
    inWorld(async (world) => {
      const heir = await bury(world)
      for (let round = 0; round < 3; round += 1) {
        assert.equal((await beat(world, world.node)).alive, false)
        assert.equal((await beat(world, heir)).alive, true)
      }
    }),
  )

  test(
    'a node that never was is not alive, and beating does not bring it to life',
    inWorld(async (world) => {
      assert.equal((await beat(world, world.node + 100)).alive, false)
      assert.equal((await beat(world, world.node + 100)).alive, false)
    }),
  )

  test(
    'a node that left is not alive',
    inWorld(async (world) => {
      await world.store.leave({ node: world.node, idMark: world.mint() })
      assert.equal((await beat(world, world.node)).alive, false)
      assert.deepEqual(await world.store.buryDead(), [])
    }),
  )

  test(
    'after an orderly goodbye ids go on from the mark it left',
    inWorld(async (world) => {
      if (!world.exclusive) await fillSlots(world)
      const idMark = world.mint()
      await world.store.leave({ node: world.node, idMark })
      const next = await world.join()
      assert.deepEqual([next.slot, next.idFloor], [world.slot, idMark])
    }),
  )

  test(
    'after a crash ids go on past everything the dead could have minted in a lifetime (shared stores)',
    inWorld(async (world, t) => {
      if (world.exclusive) return t.skip('an exclusive store')
      const idMark = world.mint()
      await beat(world, world.node, idMark)
      const heir = await bury(world)
      const idFloor = idMark + NODE_TTL_MS * IDS_PER_MS
      // Slots are taken in no promised order: the one of interest comes up among all of them.
      for (let taken = 1; taken < SLOTS; taken += 1) {
        const next = await world.join()
        assert.notEqual(next.node, heir)
        if (next.slot === world.slot) return assert.equal(next.idFloor, idFloor)
      }
      assert.fail('the slot of a buried node is free')
    }),
  )

  test(
    'after a crash no run id is minted again, and session ids, which are random, do not count',
    inWorld(async (world) => {
      const idMark = world.mint()
      await beat(world, world.node, idMark)
      const lease = await world.start()
      const session = Number.MAX_SAFE_INTEGER
      const binding = { node: world.node, session, registration: 1, name: 'w', held: [] }
      await world.store.adopt(binding)
      const heir = await bury(world)
      for (let taken = 1; taken < SLOTS; taken += 1) {
        const next = await world.join()
        assert.notEqual(next.node, heir)
        if (next.slot !== world.slot) continue
        assert.ok(next.idFloor >= lease.runId, 'a run of before could be minted again')
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
      await beat(world, world.node, idMark)
      await beat(world, world.node, older)
      await world.store.leave({ node: world.node, idMark: older })
      const next = await world.join()
      assert.ok(next.idFloor >= idMark)
    }),
  )

  test(
    'live nodes have slots of their own, and the one too many gets none (shared stores)',
    inWorld(async (world, t) => {
      if (world.exclusive) return t.skip('an exclusive store')
      const slots = [world.slot, ...(await fillSlots(world)).map(({ slot }) => slot)]
      assert.deepEqual(new Set(slots).size, SLOTS)
      assert.equal(await tryJoin(world.store), null)
      assert.equal(await tryJoin(world.store), null)
    }),
  )

  test(
    'a slot is free once its node left or was buried, and not before (shared stores)',
    inWorld(async (world, t) => {
      if (world.exclusive) return t.skip('an exclusive store')
      const [first, second] = await fillSlots(world)
      assert.ok(first && second)
      await world.store.leave({ node: first.node, idMark: world.mint() })
      assert.equal((await world.join()).slot, first.slot)
      assert.equal(await tryJoin(world.store), null)
      world.clock.advance(NODE_TTL_MS - 1)
      assert.deepEqual(await world.store.buryDead(), [])
    }),
  )

  test(
    'only nodes whose row has expired are buried, and each is buried once (shared stores)',
    inWorld(async (world, t) => {
      if (world.exclusive) return t.skip('an exclusive store')
      const [quiet, busy] = [await world.join(), await world.join()]
      world.clock.advance(NODE_TTL_MS - 1)
      await beat(world, world.node)
      await beat(world, busy.node)
      assert.deepEqual(await world.store.buryDead(), [])
      world.clock.advance(2)
      assert.deepEqual(await world.store.buryDead(), [quiet.node])
      assert.deepEqual(await world.store.buryDead(), [])
      assert.equal((await beat(world, quiet.node)).alive, false)
      assert.equal((await beat(world, busy.node)).alive, true)
    }),
  )

  test(
    'a node buried by many at once is reported by one (shared stores)',
    inWorld(async (world, t) => {
      if (world.exclusive) return t.skip('an exclusive store')
      const quiet = await world.join()
      world.clock.advance(NODE_TTL_MS + 1)
      await beat(world, world.node)
      const reports = await Promise.all(Array.from({ length: 4 }, () => world.store.buryDead()))
      assert.deepEqual(reports.flat(), [quiet.node])
    }),
  )

  test(
    'joining declares every earlier incarnation dead (exclusive stores)',
    inWorld(async (world, t) => {
      if (!world.exclusive) return t.skip('a shared store')
      const second = await world.join()
      assert.equal((await beat(world, world.node)).alive, false)
      assert.equal((await beat(world, second.node)).alive, true)
    }),
  )
}

/** Declares the world's node dead by the means the store has; returns a node that lives. */
async function bury(world: World): Promise<number> {
  if (world.exclusive) return (await world.join('heir')).node
  const heir = await world.join('heir')
  world.clock.advance(NODE_TTL_MS + 1)
  await beat(world, heir.node)
  assert.deepEqual(await world.store.buryDead(), [world.node])
  return heir.node
}
