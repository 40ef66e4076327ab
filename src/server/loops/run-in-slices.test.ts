import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pausing } from '../../core/pausing.ts'
import { inTurns } from './run-in-slices.ts'
import { isHeapTight } from './tight-heap.ts'

function* parts(count: number): Pausing<string> {
  for (let part = 0; part < count; part += 1) yield
  return 'done'
}

/** A clock that moves on whenever somebody looks at it. */
function clockOf(ms: number) {
  let now = 0
  return { mono: () => (now += ms) }
}

/** How often others get their turn while something is done. */
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

test('what is long lets others go first, again and again', async () => {
  // A part takes a millisecond: some ten of them make a turn, so that there are some hundred.
  const turns = await turnsDuring(inTurns(parts(1_000), clockOf(1)))
  assert.ok(turns >= 90, `others had ${turns} turns`)
})

test('what is short is done at once', async () => {
  assert.ok((await turnsDuring(inTurns(parts(1_000), clockOf(0)))) <= 1)
  assert.equal(await inTurns(parts(3), clockOf(1)), 'done')
})

function* failing(): Pausing<never> {
  for (let part = 0; part < 50; part += 1) yield
  throw new Error('no')
}

test('what goes wrong in a later turn is thrown to whoever waits', async () => {
  await assert.rejects(inTurns(failing(), clockOf(1)), /no/)
})

test('while something long is done the heap is kept tight, however it ends and whatever else is done', async () => {
  const seen: boolean[] = []
  function* watched(count: number): Pausing<void> {
    for (let part = 0; part < count; part += 1) {
      seen.push(isHeapTight())
      yield
    }
  }
  await inTurns(watched(5), clockOf(1))
  assert.ok(!seen.includes(true), 'for what is short nothing changes')
  const long = inTurns(watched(200), clockOf(1))
  const others = [inTurns(parts(30), clockOf(1)), inTurns(failing(), clockOf(1)).catch(() => {})]
  await Promise.all(others)
  assert.ok(isHeapTight(), 'the longest is not over')
  await long
  assert.equal(seen.at(-1), true)
  assert.equal(isHeapTight(), false)
})
