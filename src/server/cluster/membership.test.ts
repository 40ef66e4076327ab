import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock, flushTasks } from '../../../test/support/virtual-clock.ts'
import { msOfId, SLOTS } from '../../core/ids.ts'
import { type NodeStore, StoreError } from '../../store/port.ts'
import { openEngine, createStoreOnEngine } from '../../store/sqlite/store.ts'
import { DEFAULT_CONFIG } from './config.ts'
import { createMembership } from './membership.ts'
import { createStoreClock } from './store-clock.ts'

/**
 * A store whose clock is `aheadMs` ahead of the node's, with a delay before and after reading it.
 */
async function setUp(given: Partial<NodeStore> = {}) {
  const clock = createVirtualClock()
  const way = { thereMs: 1, backMs: 1, aheadMs: 5_000 }
  const answer = async <T>(of: (now: number) => T): Promise<T> => {
    clock.freeze(way.thereMs)
    const answered = of(clock.now() + way.aheadMs)
    clock.freeze(way.backMs)
    return answered
  }
  const store = {
    join: () => answer((now) => ({ node: 1, slot: 0, idFloor: 0, now })),
    heartbeat: () => answer((now) => ({ alive: true, now })),
    clockFacts: () => answer((wall) => ({ wall, newestAt: null, agreedMs: null, highestId: 0 })),
    expectClock() {},
    ...given,
  } as unknown as NodeStore
  const config = { ...DEFAULT_CONFIG, name: 'a' }
  const storeClock = createStoreClock({
    clock,
    onEvent: (event) => 'byMs' in event && event.byMs < 0 && membership.clockSetBack(),
  })
  const membership = createMembership({ store, clock, random: () => 0.5, config, storeClock })
  await membership.join()
  const errorMs = () => membership.storeNow() - (clock.now() + way.aheadMs)
  return { clock, way, membership, errorMs }
}

test('a slow answer does not make the clock of the store seem behind', async () => {
  const { way, membership, errorMs } = await setUp()
  assert.ok(Math.abs(errorMs()) <= 1)
  way.backMs = 800
  await membership.renewRow()
  assert.ok(Math.abs(errorMs()) <= 1, `${errorMs()}`)
  way.thereMs = 700
  await membership.renewRow()
  assert.ok(Math.abs(errorMs()) <= 1, `${errorMs()}`)
})

test('a step of the store clock is followed after a minute, in both directions, and other nodes are not judged meanwhile', async () => {
  const { clock, way, membership, errorMs } = await setUp()
  const renewFor = async (ms: number) => {
    for (let passedMs = 0; passedMs < ms; passedMs += 3_000) {
      clock.freeze(3_000)
      await membership.renewRow()
    }
  }
  await renewFor(33_000)
  assert.ok(membership.isSteady())
  for (const aheadMs of [600_000, -600_000]) {
    const beforeMs = way.aheadMs
    way.aheadMs = aheadMs
    await renewFor(57_000)
    assert.ok(Math.abs(errorMs() + aheadMs - beforeMs) <= 2, `${errorMs()}`)
    assert.ok(!membership.isSteady())
    await renewFor(9_000)
    assert.ok(Math.abs(errorMs()) <= 2, `${errorMs()}`)
    assert.ok(!membership.isSteady())
    await renewFor(33_000)
    assert.ok(membership.isSteady())
  }
})

test('a failed change of the slot is retried with the next heartbeat, and lists expect future ids only while there are any', async () => {
  let tries = 0
  const changeSlot = async () => {
    tries += 1
    if (tries < 3) throw new StoreError('unavailable', 'the connection is gone')
    return { slot: 2, idFloor: 0 }
  }
  const { clock, way, membership } = await setUp({ changeSlot })
  const renewRow = async () => {
    clock.freeze(3_000)
    return membership.renewRow().catch(() => null)
  }
  const renewFor = async (ms: number) => {
    for (let passedMs = 0; passedMs < ms; passedMs += 3_000) await renewRow()
  }
  const errorMs = () => msOfId(membership.mintId()) - membership.storeNow()
  way.aheadMs = 3_600_000
  await renewFor(66_000)
  assert.ok(Math.abs(errorMs()) < 1_000)
  way.aheadMs = 0
  await renewFor(72_000)
  assert.deepEqual([tries, membership.hasFutureIds()], [3, true])
  assert.ok(Math.abs(errorMs()) < 1_000)
  await renewFor(180_000)
  assert.deepEqual([tries, membership.hasFutureIds()], [3, false])
})

test('a single failed heartbeat does not make a node wait again before it judges others', async () => {
  const { clock, membership } = await setUp()
  const { steadyMs, nodeHeartbeatMs, nodeTtlMs } = DEFAULT_CONFIG
  const renewFor = async (ms: number) => {
    for (let at = 0; at < ms; at += nodeHeartbeatMs) {
      clock.freeze(nodeHeartbeatMs)
      await membership.renewRow()
    }
  }
  await renewFor(steadyMs)
  assert.ok(membership.isSteady())
  // For longer than a gap, only other writes reach the store.
  for (let at = 0; at <= nodeTtlMs / 2; at += nodeHeartbeatMs) {
    clock.freeze(nodeHeartbeatMs)
    membership.writeSucceeded(clock.mono())
  }
  assert.ok(!membership.isSteady(), 'its own row may be about to expire')
  await membership.renewRow()
  assert.ok(membership.isSteady(), 'the store was there all the time')
  // Nothing reaches the store: every node may have been cut off from it.
  clock.freeze(nodeTtlMs / 2)
  await membership.renewRow()
  assert.ok(!membership.isSteady())
  membership.writeSucceeded(clock.mono())
  assert.ok(!membership.isSteady())
  await renewFor(steadyMs + nodeHeartbeatMs)
  assert.ok(membership.isSteady())
})

/** A store shared by several nodes, all of whose slots were taken a moment ago. */
async function fillSlots() {
  const clock = createVirtualClock()
  const engine = openEngine({ path: ':memory:', now: clock.now, exclusive: false })
  const store = createStoreOnEngine(engine)
  const { nodeTtlMs: ttlMs, restartGraceMs: graceMs } = DEFAULT_CONFIG
  const nodes: number[] = []
  for (let slot = 0; slot < SLOTS; slot += 1) {
    const joined = await store.join({ name: `gone-${slot}`, ttlMs, graceMs })
    nodes.push(joined?.node ?? 0)
  }
  const config = { ...DEFAULT_CONFIG, name: 'late' }
  const membership = createMembership({
    store,
    clock,
    random: () => 0.5,
    config,
    storeClock: createStoreClock({ clock, onEvent() {} }),
  })
  const renewAll = () =>
    Promise.all(nodes.map((node) => store.heartbeat({ node, ttlMs, idMark: 0 }).catch(() => {})))
  return { clock, engine, membership, nodes, renewAll, ttlMs }
}

test('servers that exit right after the start do not keep the next one out for ever', async (t) => {
  const { clock, engine, membership, nodes, ttlMs } = await fillSlots()
  t.after(() => engine.close())
  let isIn = false
  const joining = membership.join().then(() => (isIn = true))
  await clock.advance(ttlMs - 1)
  assert.equal(isIn, false, 'no node is declared dead before the time')
  await clock.advance(DEFAULT_CONFIG.nodeHeartbeatMs)
  await joining
  assert.ok(!nodes.includes(membership.node))
  assert.ok(membership.mayPromise())
})

test('when live nodes hold all slots, another node is refused with the reason', async (t) => {
  const { clock, engine, membership, renewAll, ttlMs } = await fillSlots()
  t.after(() => engine.close())
  let problem = ''
  const joining = membership.join().catch((error: Error) => (problem = error.message))
  for (let ms = 0; ms <= ttlMs + DEFAULT_CONFIG.nodeHeartbeatMs; ms += 1_000) {
    await renewAll()
    await clock.advance(1_000)
  }
  await joining
  assert.equal(problem, 'all 32 node slots are taken by live nodes')
})

test('a node that lost contact while it waited for a slot starts waiting again', async (t) => {
  const { clock, engine, membership, ttlMs } = await fillSlots()
  t.after(() => engine.close())
  let isIn = false
  const joining = membership.join().then(() => (isIn = true))
  await flushTasks()
  clock.freeze(ttlMs)
  await clock.advance(ttlMs - DEFAULT_CONFIG.nodeHeartbeatMs)
  assert.equal(isIn, false, 'all nodes may have been out of touch')
  await clock.advance(2 * DEFAULT_CONFIG.nodeHeartbeatMs)
  await joining
})
