import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunState } from '../../../core/run/run-state.ts'
import { createCountSteps } from './count-steps.ts'

function counting() {
  let asked = 0
  const clock = { now: 0, mono: () => clock.now }
  const countSteps = createCountSteps({
    store: {
      async countSteps() {
        asked += 1
        return [{ state: 'succeeded', count: asked }]
      },
    },
    clock,
  })
  const succeeded = async (state: RunState, total: number) =>
    (await countSteps({ id: 7, state }, total)).succeeded
  return { clock, succeeded, countSteps }
}

test('the steps that were not reached are the remainder', async () => {
  const counts = await counting().countSteps({ id: 7, state: 'running' }, 5)
  assert.deepEqual(counts, {
    total: 5,
    untouched: 4,
    running: 0,
    waiting: 0,
    succeeded: 1,
    failed: 0,
    cancelled: 0,
    skipped: 0,
  })
})

test('a small workflow is counted for every request', async () => {
  const { succeeded } = counting()
  assert.deepEqual([await succeeded('running', 10), await succeeded('running', 10)], [1, 2])
})

test('a large one is counted once a second, once more when it ends, and never again', async () => {
  const { succeeded, clock } = counting()
  assert.equal(await succeeded('running', 100_000), 1)
  clock.now = 999
  assert.equal(await succeeded('running', 100_000), 1)
  clock.now = 1_000
  assert.equal(await succeeded('running', 100_000), 2)
  assert.equal(await succeeded('succeeded', 100_000), 3)
  clock.now = 100_000
  assert.equal(await succeeded('succeeded', 100_000), 3)
})
