import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import { createSessionLease, leaseSpanMs } from './lease.ts'

function setUp() {
  const clock = createVirtualClock()
  const expiries: number[] = []
  const lease = createSessionLease(clock, () => expiries.push(clock.mono()))
  const closed = new AbortController()
  const guarding = lease.guard(closed.signal)
  return { clock, expiries, lease, closed, guarding }
}

test('the lease leaves time for clock drift and for stopping', () => {
  assert.equal(leaseSpanMs(10_000), 8_500)
})

test('a lease expires once, counted from before the last acknowledged message was sent', async () => {
  const { clock, expiries, lease } = setUp()
  await clock.advance(100)
  lease.renew(40, 10_000)
  await clock.advance(5_000)
  lease.renew(3_000, 10_000)
  await clock.advance(60_000)
  assert.deepEqual(expiries, [11_500])
})

test('a late answer to an older message does not shorten the lease', async () => {
  const { clock, expiries, lease } = setUp()
  lease.renew(0, 10_000)
  await clock.advance(3_000)
  lease.renew(3_000, 10_000)
  lease.renew(1_000, 10_000)
  await clock.advance(20_000)
  assert.deepEqual(expiries, [11_500])
})

test('changes of the wall clock do not matter', async () => {
  const { clock, expiries, lease } = setUp()
  lease.renew(0, 10_000)
  await clock.advance(1_000)
  clock.jumpWall(3_600_000)
  await clock.advance(1_000)
  assert.deepEqual(expiries, [])
  clock.jumpWall(-7_200_000)
  await clock.advance(6_499)
  assert.deepEqual(expiries, [])
  await clock.advance(1)
  assert.deepEqual(expiries, [8_500])
})

test('the first check notices an expired lease, even before the timer', async () => {
  const { clock, expiries, lease } = setUp()
  assert.equal(lease.isKept(), false)
  lease.renew(-9_000, 10_000)
  assert.equal(lease.isKept(), false)
  assert.equal(lease.isKept(), false)
  await clock.advance(10_000)
  assert.deepEqual(expiries, [0])
})

test('an expired lease can be renewed, and can expire again', async () => {
  const { clock, expiries, lease } = setUp()
  lease.renew(0, 10_000)
  await clock.advance(10_000)
  lease.renew(10_000, 10_000)
  await clock.advance(10_000)
  assert.deepEqual(expiries, [8_500, 18_500])
})

test('the guard ends with the worker and leaves no timer behind', async () => {
  const { clock, expiries, lease, closed, guarding } = setUp()
  lease.renew(0, 10_000)
  await clock.advance(1_000)
  closed.abort()
  await guarding
  assert.equal(clock.sleeping(), 0)
  assert.deepEqual(expiries, [])
})

test('a lease of any length leaves whole milliseconds', () => {
  for (const leaseTtlMs of [6_801, 10_000, 12_577]) {
    const spanMs = leaseSpanMs(leaseTtlMs)
    assert.ok(Number.isInteger(spanMs), `${spanMs}`)
    assert.ok(spanMs <= leaseTtlMs * 0.95 - 1_000)
  }
})
