import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWorkflowBook } from './compiled-workflow-cache.ts'

const STEPS = 2_000
const KEY = { jobId: 1, version: 1, job: 'etl' }

function bookOf(definition: object) {
  let asked = 0
  let now = 0
  const book = createWorkflowBook({
    store: {
      async definitionsOf() {
        asked += 1
        return [JSON.stringify(definition)]
      },
    },
    // It moves on whenever somebody looks at it: reading a step takes a millisecond.
    clock: { mono: () => (now += 1) },
  })
  return { book, asked: () => asked }
}

const LARGE = { steps: Array.from({ length: STEPS }, () => ({ task: 'noop' })) }

test('while a large workflow is read, others get their turns', async () => {
  const { book } = bookOf(LARGE)
  let isRead = false
  let turns = 0
  const others = (async () => {
    for (; !isRead; turns += 1) await new Promise((resolve) => setImmediate(resolve))
  })()
  const compiled = await book.find(KEY)
  isRead = true
  await others
  assert.equal(compiled?.graph.size, STEPS)
  assert.ok(turns >= STEPS / 10, `others had ${turns} turns`)
})

test('however many ask for a version at once, it is read once, and then remembered', async () => {
  const { book, asked } = bookOf(LARGE)
  const found = await Promise.all(Array.from({ length: 5 }, () => book.find(KEY)))
  found.push(await book.find(KEY))
  assert.equal(new Set(found).size, 1)
  assert.equal(asked(), 1)
})

test('what could not be read is tried again by whoever asks next', async () => {
  const { book, asked } = bookOf({ steps: { a: { needs: 'b', task: 'noop' } } })
  for (const time of [1, 2]) {
    await assert.rejects(book.find(KEY), /there is no step b/)
    assert.equal(asked(), time)
  }
})
