import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createTurns } from './concurrency-limit.ts'

test('so many work at once, the others in order, and each gets its own answer', async () => {
  const take = createTurns(2)
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

test('whoever fails makes room all the same', async () => {
  const take = createTurns(1)
  const failing = take(() => Promise.reject(new Error('no')))
  const next = take(async () => 'yes')
  await assert.rejects(failing, /no/)
  assert.equal(await next, 'yes')
})

test('between two turns everything else gets its own', async () => {
  const take = createTurns(1)
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
