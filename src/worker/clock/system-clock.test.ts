import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flushTasks } from '../../../test/support/virtual-clock.ts'
import { systemClock, systemRandom } from './system-clock.ts'

test('a sleep longer than any timer does not end at once, and ends with its signal', async () => {
  const stop = new AbortController()
  let isOver = false
  const sleeping = systemClock.sleep(2 ** 45, stop.signal).then(() => (isOver = true))
  await flushTasks()
  assert.equal(isOver, false)
  stop.abort()
  await sleeping
})

test('a sleep with an aborted signal ends at once', async () => {
  await systemClock.sleep(3_600_000, AbortSignal.abort())
})

test('the monotonic clock does not run backwards', () => {
  const first = systemClock.mono()
  assert.ok(systemClock.mono() >= first)
  assert.ok(systemClock.now() > Date.UTC(2025, 0, 1))
})

test('random numbers stay in their range', () => {
  const value = systemRandom()
  assert.ok(value >= 0 && value < 1)
})
