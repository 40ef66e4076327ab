import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPromoteStep } from './promote.ts'

/** A promoter whose store answers at times that the test gives. */
function createPromoter(answers: { promoted: number; nextDueAt: number | null }[]) {
  const lags: number[] = []
  let now = 0
  const step = createPromoteStep({
    store: { promote: async () => ({ lanes: [], ...(answers.shift() as (typeof answers)[0]) }) },
    mintId: () => 1,
    mayFire: () => true,
    isClockOff: () => false,
    storeNow: () => now,
    signals: { lanesReady: () => {} },
    metrics: { onScheduleLag: (ms) => lags.push(ms) },
  })
  return {
    lags,
    stepAt(at: number) {
      now = at
      return step()
    },
  }
}

test('the promoter sleeps until the next due time and reports its lag', async () => {
  const { lags, stepAt } = createPromoter([
    { promoted: 0, nextDueAt: 500 },
    { promoted: 1, nextDueAt: null },
  ])
  assert.deepEqual(await stepAt(100), { more: false, idleMs: 400 })
  assert.deepEqual(await stepAt(530), { more: false, idleMs: 1_000 })
  assert.deepEqual(lags, [30])
})

test('no lag is reported for a run that was not expected', async () => {
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
