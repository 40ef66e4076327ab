import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../../test/support/virtual-clock.ts'
import type { NodeStore } from '../store/port.ts'
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
