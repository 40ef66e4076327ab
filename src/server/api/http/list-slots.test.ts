import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../../../../test/support/virtual-clock.ts'
import { createListSlots, DEFAULT_LISTS, type ListLimits, type Release } from './list-slots.ts'

const NONE = { rate_limited: 0, overloaded: 0 }

const NEVER = new AbortController().signal

function stage(limits: Partial<ListLimits> = {}) {
  const clock = createVirtualClock()
  const slots = createListSlots({ ...DEFAULT_LISTS, leastMs: 0, ...limits }, clock)
  const served: string[] = []
  const take = (caller: string, signal = NEVER) => {
    const taken = slots.take(caller, signal)
    taken.then(
      () => served.push(caller),
      () => served.push(`${caller} refused`),
    )
    return taken
  }
  return { clock, slots, served, take }
}

/** Resolves after everything that can continue has continued. */
async function settled(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve))
}

test('one caller never takes every slot', async () => {
  const { served, take, slots } = stage({ slots: 4, slotsPerCaller: 3 })
  for (let nth = 0; nth < 10; nth += 1) void take('a')
  await settled()
  assert.deepEqual(slots.figures(), { busy: 3, waiting: 7, refused: NONE })
  await take('b')
  assert.equal(served.at(-1), 'b')
})

test('callers are served in turns, whatever number each has waiting', async () => {
  const { served, take } = stage({ slots: 1, slotsPerCaller: 1 })
  const release = await take('a')
  const waiting = [take('a'), take('a'), take('a'), take('b')]
  release()
  for (const _ of waiting) {
    await settled()
    const next = await Promise.race(waiting.map(async (one) => one))
    next()
  }
  ;(await waiting[3]!)()
  await settled()
  assert.ok(served.indexOf('b') <= 2, served.join())
})

test('a caller with too many waiting is refused with the seconds to wait, and others are not', async () => {
  const { take } = stage({ slots: 1, slotsPerCaller: 1, waitingPerCaller: 2, waiting: 3 })
  await take('a')
  void take('a')
  void take('a')
  await assert.rejects(take('a'), { code: 'rate_limited', status: 429, retryAfterS: 3 })
  void take('b')
  await settled()
  await assert.rejects(take('c'), { code: 'overloaded', status: 503, retryAfterS: 3 })
})

test('a list that waits too long is refused and leaves its slot to others', async () => {
  const { clock, take, slots } = stage({ slots: 1, slotsPerCaller: 1, waitMs: 5_000 })
  const release = await take('a')
  const late = assert.rejects(take('a'), { code: 'rate_limited' })
  await clock.advance(5_000)
  await late
  assert.deepEqual(slots.figures(), {
    busy: 1,
    waiting: 0,
    refused: { rate_limited: 1, overloaded: 0 },
  })
  release()
  ;(await take('b'))()
})

test('a single list that waits too long behind other callers is not refused for having too many', async () => {
  const { clock, take } = stage({ slots: 1, slotsPerCaller: 1, waitMs: 5_000 })
  await take('a')
  const late = assert.rejects(take('b'), { code: 'overloaded', status: 503 })
  await clock.advance(5_000)
  await late
})

test('a caller that disconnects while it waits gives up its slot', async () => {
  const { take, slots } = stage({ slots: 1, slotsPerCaller: 1 })
  const release = await take('a')
  const gone = new AbortController()
  const given = assert.rejects(take('a', gone.signal))
  gone.abort()
  await given
  assert.deepEqual(slots.figures(), { busy: 1, waiting: 0, refused: NONE })
  release()
  await settled()
  assert.equal(slots.figures().busy, 0)
})

test('a slot serves one list at a time, and releasing it twice frees it once', async () => {
  const { clock, take, slots } = stage({ slots: 1, slotsPerCaller: 1, leastMs: 10 })
  const release = await take('a')
  const next = take('a')
  release()
  release()
  await settled()
  assert.deepEqual(slots.figures(), { busy: 1, waiting: 1, refused: NONE })
  await clock.advance(10)
  const second: Release = await next
  second()
  await clock.advance(10)
  assert.deepEqual(slots.figures(), { busy: 0, waiting: 0, refused: NONE })
})
