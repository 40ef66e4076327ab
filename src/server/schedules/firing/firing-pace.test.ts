import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFiringPace } from './firing-pace.ts'

test('the next firings are expected to take as long as the last ones, and a little more', () => {
  const pace = createFiringPace()
  for (let i = 0; i < 100; i += 1) pace.learn(1_000, 43)
  const leadMs = pace.leadMs(1_000)
  assert.ok(leadMs > 80 && leadMs < 90, `${leadMs}`)
  assert.ok(pace.leadMs(10) < 5)
  const most = pace.within(80)
  assert.ok(most > 900 && most < 1_100, `${most}`)
  assert.ok(pace.leadMs(most) < 84)
})

test('few firings say nothing, because the round trip dominates', () => {
  const pace = createFiringPace()
  const before = pace.leadMs(500)
  pace.learn(3, 400)
  assert.equal(pace.leadMs(500), before)
})

test('one outlier is forgotten, but slow measurements count more than fast ones', () => {
  const pace = createFiringPace()
  pace.learn(100, 5_000)
  const slow = pace.leadMs(100)
  assert.ok(slow > 500)
  pace.learn(100, 8)
  assert.ok(pace.leadMs(100) > slow * 0.9)
  for (let i = 0; i < 150; i += 1) pace.learn(100, 8)
  assert.ok(pace.leadMs(100) < 20)
})
