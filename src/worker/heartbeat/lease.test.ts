import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import { createLease, leaseSpanMs } from './lease.ts'

function setUp() {
  const clock = createVirtualClock()
  const lapses: number[] = []
  const lease = createLease(clock, () => lapses.push(clock.mono()))
  const closed = new AbortController()
  const guarding = lease.guard(closed.signal)
  return { clock, lapses, lease, closed, guarding }
}

test('leaves room for drift and for stopping', () => {
  assert.equal(leaseSpanMs(10_000), 8_500)
})

test('runs out once, counted from the moment before the last acknowledged message was sent', async () => {
  const { clock, lapses, lease } = setUp()
  await clock.advance(100)
  lease.renew(40, 10_000)
  await clock.advance(5_000)
  lease.renew(3_000, 10_000)
  await clock.advance(60_000)
  assert.deepEqual(lapses, [11_500])
})

test('an older message answered late takes nothing away', async () => {
  const { clock, lapses, lease } = setUp()
  lease.renew(0, 10_000)
  await clock.advance(3_000)
  lease.renew(3_000, 10_000)
  lease.renew(1_000, 10_000)
  await clock.advance(20_000)
  assert.deepEqual(lapses, [11_500])
})

test('wall clocks may say what they like', async () => {
  const { clock, lapses, lease } = setUp()
  lease.renew(0, 10_000)
  await clock.advance(1_000)
  clock.jumpWall(3_600_000)
  await clock.advance(1_000)
  assert.deepEqual(lapses, [])
  clock.jumpWall(-7_200_000)
  await clock.advance(6_499)
  assert.deepEqual(lapses, [])
  await clock.advance(1)
  assert.deepEqual(lapses, [8_500])
})

test('is noticed by whoever looks first, even before the timer', async () => {
  const { clock, lapses, lease } = setUp()
  assert.equal(lease.isKept(), false)
  lease.renew(-9_000, 10_000)
  assert.equal(lease.isKept(), false)
  assert.equal(lease.isKept(), false)
  await clock.advance(10_000)
  assert.deepEqual(lapses, [0])
})

test('can be renewed after it ran out, and run out again', async () => {
  const { clock, lapses, lease } = setUp()
  lease.renew(0, 10_000)
  await clock.advance(10_000)
  lease.renew(10_000, 10_000)
  await clock.advance(10_000)
  assert.deepEqual(lapses, [8_500, 18_500])
})

test('the guard ends with the worker and leaves nothing behind', async () => {
  const { clock, lapses, lease, closed, guarding } = setUp()
  lease.renew(0, 10_000)
  await clock.advance(1_000)
  closed.abort()
  await guarding
  assert.equal(clock.sleeping(), 0)
  assert.deepEqual(lapses, [])
})
