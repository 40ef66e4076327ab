import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pausing } from '../../core/pausing.ts'
import { runInSlices } from './run-in-slices.ts'
import { isHeapTight } from './tight-heap.ts'

function* parts(count: number): Pausing<string> {
  for (let part = 0; part < count; part += 1) yield
  return 'done'
}

/** A clock that moves on whenever it is read. */
function clockOf(ms: number) {
  let now = 0
  return { mono: () => (now += ms) }
}

/** Counts how often other tasks run while the work is in progress. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let isOver = false
  let turns = 0
  const others = (async () => {
    for (; !isOver; turns += 1) await new Promise((resolve) => setImmediate(resolve))
  })()
  await work
  isOver = true
  await others
  return turns
}

test('long work yields to other tasks again and again', async () => {
  // One part takes a millisecond, so about ten parts make a slice and there are about a hundred
  // slices.
  const turns = await turnsDuring(runInSlices(parts(1_000), clockOf(1)))
  assert.ok(turns >= 90, `others had ${turns} turns`)
})

test('short work runs in one go', async () => {
  assert.ok((await turnsDuring(runInSlices(parts(1_000), clockOf(0)))) <= 1)
  assert.equal(await runInSlices(parts(3), clockOf(1)), 'done')
})

function* failing(): Pausing<never> {
  for (let part = 0; part < 50; part += 1) yield
  throw new Error('no')
}

test('an error in a later slice rejects the promise', async () => {
  await assert.rejects(runInSlices(failing(), clockOf(1)), /no/)
})

test('the heap stays tight during long work, however it ends and whatever runs at the same time', async () => {
  const seen: boolean[] = []
  function* watched(count: number): Pausing<void> {
    for (let part = 0; part < count; part += 1) {
      seen.push(isHeapTight())
      yield
    }
  }
  await runInSlices(watched(5), clockOf(1))
  assert.ok(!seen.includes(true), 'for what is short nothing changes')
  const long = runInSlices(watched(200), clockOf(1))
  const others = [
    runInSlices(parts(30), clockOf(1)),
    runInSlices(failing(), clockOf(1)).catch(() => {}),
  ]
  await Promise.all(others)
  assert.ok(isHeapTight(), 'the longest is not over')
  await long
  assert.equal(seen.at(-1), true)
  assert.equal(isHeapTight(), false)
})
