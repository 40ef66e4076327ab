import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock, settle } from '../../../test/support/virtual-clock.ts'
import { SLOTS } from '../../core/ids.ts'
import type { NodeStore } from '../../store/port.ts'
import { openEngine, storeOn } from '../../store/sqlite/store.ts'
import { DEFAULT_CONFIG } from './config.ts'
import { createMembership } from './membership.ts'

/** A store whose clock is `aheadMs` ahead of ours, and that takes its time before and after looking at it. */
async function setUp() {
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
    beat: () => answer((now) => ({ alive: true, now })),
  } as unknown as NodeStore
  const config = { ...DEFAULT_CONFIG, name: 'a' }
  const membership = createMembership({ store, clock, random: () => 0.5, config })
  await membership.join()
  const errorMs = () => membership.storeNow() - (clock.now() + way.aheadMs)
  return { clock, way, membership, errorMs }
}

test('an answer that was long on its way does not make the clock of the store seem behind', async () => {
  const { way, membership, errorMs } = await setUp()
  assert.ok(Math.abs(errorMs()) <= 1)
  way.backMs = 800
  await membership.beat()
  assert.ok(Math.abs(errorMs()) <= 1, `${errorMs()}`)
  way.thereMs = 700
  await membership.beat()
  assert.ok(Math.abs(errorMs()) <= 1, `${errorMs()}`)
})

test('a clock of the store that was set is followed at once, either way', async () => {
  const { way, membership, errorMs } = await setUp()
  for (const aheadMs of [60_000, -60_000]) {
    way.aheadMs = aheadMs
    await membership.beat()
    assert.ok(Math.abs(errorMs()) <= 2, `${errorMs()}`)
  }
})

/** A store that nodes share, all of whose slots were taken a moment ago. */
async function fillSlots() {
  const clock = createVirtualClock()
  const engine = openEngine({ path: ':memory:', now: clock.now, exclusive: false })
  const store = storeOn(engine)
  const { nodeTtlMs: ttlMs, restartGraceMs: graceMs } = DEFAULT_CONFIG
  const nodes: number[] = []
  for (let slot = 0; slot < SLOTS; slot += 1) {
    const joined = await store.join({ name: `gone-${slot}`, ttlMs, graceMs })
    nodes.push(joined?.node ?? 0)
  }
  const config = { ...DEFAULT_CONFIG, name: 'late' }
  const membership = createMembership({ store, clock, random: () => 0.5, config })
  const beatAll = () =>
    Promise.all(nodes.map((node) => store.beat({ node, ttlMs, idMark: 0 }).catch(() => {})))
  return { clock, engine, membership, nodes, beatAll, ttlMs }
}

test('servers that ended as soon as they had started do not keep the next one out for ever', async (t) => {
  const { clock, engine, membership, nodes, ttlMs } = await fillSlots()
  t.after(() => engine.close())
  let isIn = false
  const joining = membership.join().then(() => (isIn = true))
  await clock.advance(ttlMs - 1)
  assert.equal(isIn, false, 'nobody is declared dead before the time')
  await clock.advance(DEFAULT_CONFIG.nodeBeatMs)
  await joining
  assert.ok(!nodes.includes(membership.node))
  assert.ok(membership.mayPromise())
})

test('where all slots are taken by nodes that live, one more is told so', async (t) => {
  const { clock, engine, membership, beatAll, ttlMs } = await fillSlots()
  t.after(() => engine.close())
  let said = ''
  const joining = membership.join().catch((error: Error) => (said = error.message))
  for (let ms = 0; ms <= ttlMs + DEFAULT_CONFIG.nodeBeatMs; ms += 1_000) {
    await beatAll()
    await clock.advance(1_000)
  }
  await joining
  assert.equal(said, 'all 32 node slots are taken by live nodes')
})

test('who lost touch while it waited for a slot begins to wait anew', async (t) => {
  const { clock, engine, membership, ttlMs } = await fillSlots()
  t.after(() => engine.close())
  let isIn = false
  const joining = membership.join().then(() => (isIn = true))
  await settle()
  clock.freeze(ttlMs)
  await clock.advance(ttlMs - DEFAULT_CONFIG.nodeBeatMs)
  assert.equal(isIn, false, 'everybody may have been out of touch')
  await clock.advance(2 * DEFAULT_CONFIG.nodeBeatMs)
  await joining
})
