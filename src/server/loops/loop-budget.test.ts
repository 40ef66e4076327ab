import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLoopBudget } from './loop-budget.ts'

/** Work takes time only where a test says so. */
function setUp() {
  let mono = 0
  const slept: number[] = []
  const budget = createLoopBudget({
    mono: () => mono,
    async sleep(ms) {
      slept.push(ms)
      mono += ms
    },
  })
  const work = (ms: number) => () => {
    mono += ms
    return ms
  }
  return { budget, work, slept, pause: (ms: number) => (mono += ms) }
}

test('work that fits into the burst does not wait', async () => {
  const { budget, work, slept } = setUp()
  assert.deepEqual(await Promise.all([5, 40, 50].map((ms) => budget.run(work(ms)))), [5, 40, 50])
  assert.deepEqual(slept, [])
})

test('work beyond the burst takes a quarter of the time', async () => {
  const { budget, work, slept } = setUp()
  await Promise.all(Array.from({ length: 110 }, () => budget.run(work(10))))
  const total = slept.reduce((sum, ms) => sum + ms, 0)
  // 100 of the 110 pieces are beyond the burst: each second of work is followed by three of rest.
  assert.ok(total >= 2_800 && total <= 3_200, `${total}`)
})

test('the burst is there again after a pause', async () => {
  const { budget, work, slept, pause } = setUp()
  await budget.run(work(100))
  pause(400)
  await budget.run(work(100))
  assert.deepEqual(slept, [])
})

test('work that fails does not stop what waits behind it', async () => {
  const { budget, work } = setUp()
  const failing = budget.run(() => {
    throw new Error('broken')
  })
  const next = budget.run(work(1))
  await assert.rejects(failing, /broken/)
  assert.equal(await next, 1)
})
