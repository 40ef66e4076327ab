import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSessionLimit, weightOfOffer } from './session-limit.ts'

test('sessions that are being opened count, and one that failed to open does not', async () => {
  const limit = createSessionLimit({
    sessionIndex: { weightOf: () => 1 },
    clock: { mono: () => 0 },
    maxPerToken: 3,
    ttlMs: 10_000,
  })
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const opening = [first, second].map(({ promise }) => limit.within('a', 1, () => promise))
  const full = { code: 'too_many_sessions', status: 429, retryAfterS: 10 }
  await assert.rejects(
    limit.within('a', 1, async () => {}),
    full,
  )
  await limit.within('b', 1, async () => {})
  first.reject(new Error('the store is away'))
  await assert.rejects(opening[0] as Promise<void>, /away/)
  await limit.within('a', 1, async () => {})
  await assert.rejects(
    limit.within('a', 2, async () => {}),
    full,
  )
  // A session that registers again needs no additional place.
  await limit.within('a', 0, async () => {})
  second.resolve()
  await opening[1]
})

test('one token opens new sessions at a bounded rate, and others are not delayed', () => {
  let nowMono = 0
  const limit = createSessionLimit({
    sessionIndex: { weightOf: () => 0 },
    clock: { mono: () => nowMono },
    maxPerToken: 1_000_000,
    ttlMs: 10_000,
  })
  for (let opened = 0; opened < 20_000; opened += 1) limit.countNew('a')
  assert.throws(() => limit.countNew('a'), { code: 'rate_limited', status: 429, retryAfterS: 1 })
  limit.countNew('b')
  nowMono = 1_000
  for (let opened = 0; opened < 200; opened += 1) limit.countNew('a')
})

test('one token tries to take over sessions of others at a bounded rate', async () => {
  const limit = createSessionLimit({
    sessionIndex: { weightOf: () => 0 },
    clock: { mono: () => 0 },
    maxPerToken: 1,
    ttlMs: 10_000,
  })
  let written = 0
  const takeOver = (owner: string, result: 'unknown' | 'own') =>
    limit.takingOver(
      owner,
      async () => {
        written += 1
        return result
      },
      (one) => one === 'unknown',
    )
  // A fleet that moves here at once, and one whose store is away, are not refused.
  await Promise.all(Array.from({ length: 10_000 }, () => takeOver('worker', 'own')))
  const failing = () =>
    limit.takingOver(
      'worker',
      () => Promise.reject(new Error('away')),
      () => false,
    )
  for (let nth = 0; nth < 3_000; nth += 1) await assert.rejects(failing, /away/)
  for (let nth = 0; nth < 2_000; nth += 1) await takeOver('thief', 'unknown')
  written = 0
  await assert.rejects(takeOver('thief', 'unknown'), { code: 'rate_limited', status: 429 })
  assert.equal(written, 0)
  assert.equal(await takeOver('worker', 'own'), 'own')
})

test('a large offer counts as several sessions', () => {
  assert.deepEqual(
    [0, 16_384, 16_385, 1_000_000].map((length) => weightOfOffer('x'.repeat(length))),
    [1, 1, 2, 62],
  )
})
