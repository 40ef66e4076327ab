import assert from 'node:assert/strict'
import { test } from 'node:test'
import { promote } from './promote.ts'

/** A promoter whose store answers by turns, at times that a test gives. */
function createPromoter(answers: { promoted: number; nextDueAt: number | null }[]) {
  const lags: number[] = []
  let now = 0
  const step = promote({
    store: { promote: async () => ({ lanes: [], ...(answers.shift() as (typeof answers)[0]) }) },
    mintId: () => 1,
    storeNow: () => now,
    onReady: () => {},
    onLag: (ms) => lags.push(ms),
  })
  return {
    lags,
    stepAt(at: number) {
      now = at
      return step()
    },
  }
}

test('it sleeps until the next is due, and says how late it came', async () => {
  const { lags, stepAt } = createPromoter([
    { promoted: 0, nextDueAt: 500 },
    { promoted: 1, nextDueAt: null },
  ])
  assert.deepEqual(await stepAt(100), { more: false, idleMs: 400 })
  assert.deepEqual(await stepAt(530), { more: false, idleMs: 1_000 })
  assert.deepEqual(lags, [30])
})

test('of one that nobody awaited it says nothing', async () => {
  const { lags, stepAt } = createPromoter([
    { promoted: 1, nextDueAt: 900 },
    { promoted: 1, nextDueAt: 900 },
    { promoted: 0, nextDueAt: null },
  ])
  await stepAt(100)
  await stepAt(200)
  await stepAt(1_000)
  assert.deepEqual(lags, [])
})
