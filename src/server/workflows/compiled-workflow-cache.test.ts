import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCompiledWorkflowCache } from './compiled-workflow-cache.ts'

const STEPS = 2_000
const KEY = { jobId: 1, version: 1, job: 'etl' }

function cacheOf(definition: object) {
  let asked = 0
  let now = 0
  const compiledWorkflows = createCompiledWorkflowCache({
    store: {
      async definitionsOf() {
        asked += 1
        return [JSON.stringify(definition)]
      },
    },
    // The clock moves on whenever it is read: reading a step takes a millisecond.
    clock: { mono: () => (now += 1) },
  })
  return { compiledWorkflows, asked: () => asked }
}

const LARGE = { steps: Array.from({ length: STEPS }, () => ({ task: 'noop' })) }

test('reading a large workflow yields to other tasks', async () => {
  const { compiledWorkflows } = cacheOf(LARGE)
  let isRead = false
  let turns = 0
  const others = (async () => {
    for (; !isRead; turns += 1) await new Promise((resolve) => setImmediate(resolve))
  })()
  const compiled = await compiledWorkflows.find(KEY)
  isRead = true
  await others
  assert.equal(compiled?.graph.size, STEPS)
  assert.ok(turns >= STEPS / 10, `others had ${turns} turns`)
})

test('concurrent requests for a version read it once, and it stays cached', async () => {
  const { compiledWorkflows, asked } = cacheOf(LARGE)
  const found = await Promise.all(Array.from({ length: 5 }, () => compiledWorkflows.find(KEY)))
  found.push(await compiledWorkflows.find(KEY))
  assert.equal(new Set(found).size, 1)
  assert.equal(asked(), 1)
})

test('a failed read is tried again by the next request', async () => {
  const { compiledWorkflows, asked } = cacheOf({ steps: { a: { needs: 'b', task: 'noop' } } })
  for (const time of [1, 2]) {
    await assert.rejects(compiledWorkflows.find(KEY), /there is no step b/)
    assert.equal(asked(), time)
  }
})
