import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createConcurrencyLimit } from './concurrency-limit.ts'

test('a limited number of tasks runs at once, the others follow in order, each with its own result', async () => {
  const take = createConcurrencyLimit(2)
  const started: number[] = []
  const ends = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  const answers = ends.map(({ promise }, index) =>
    take(async () => {
      started.push(index)
      await promise
      return index * 10
    }),
  )
  await setImmediate()
  assert.deepEqual(started, [0, 1])
  ends[1]?.resolve()
  await setImmediate()
  await setImmediate()
  assert.deepEqual(started, [0, 1, 2])
  for (const { resolve } of ends) resolve()
  assert.deepEqual(await Promise.all(answers), [0, 10, 20, 30, 40])
  assert.equal(await take(async () => 'again'), 'again')
})

test('a failing task makes room, too', async () => {
  const take = createConcurrencyLimit(1)
  const failing = take(() => Promise.reject(new Error('no')))
  const next = take(async () => 'yes')
  await assert.rejects(failing, /no/)
  assert.equal(await next, 'yes')
})

test('between two tasks other work gets its turn', async () => {
  const take = createConcurrencyLimit(1)
  let isOver = false
  let others = 0
  const other = async () => {
    for (; !isOver; others += 1) await setImmediate()
  }
  const going = other()
  for (let turn = 0; turn < 10; turn += 1) await take(async () => turn)
  isOver = true
  await going
  assert.ok(others >= 9, `${others} of others`)
})
