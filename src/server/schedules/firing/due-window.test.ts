import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ScheduleRecord } from '../../../store/port.ts'
import { createDueWindow } from './due-window.ts'

const schedule = (id: number, version = 1) => ({ id, version }) as ScheduleRecord

test('due entries come out earliest first, each schedule in its latest version', () => {
  const puts = fc.array(fc.record({ id: fc.nat(20), at: fc.nat(100), version: fc.nat(9) }))
  fc.assert(
    fc.property(puts, fc.nat(100), fc.integer({ min: 1, max: 30 }), (given, now, most) => {
      const window = createDueWindow()
      for (const { id, at, version } of given) window.put(schedule(id, version), at)
      const latest = new Map(given.map((one) => [one.id, one]))
      assert.equal(window.size, latest.size)
      const ats = [...latest.values()].map(({ at }) => at)
      assert.equal(window.nextAt, Math.min(...ats))
      const due = window.take(now, most)
      const expected = ats.filter((at) => at <= now).toSorted((a, b) => a - b)
      assert.deepEqual(
        due.map(({ at }) => at),
        expected.slice(0, most),
      )
      for (const { schedule: taken, at } of due) {
        const one = latest.get(taken.id)
        assert.deepEqual([one?.at, one?.version], [at, taken.version])
        assert.ok(!window.has(taken.id))
      }
      assert.equal(window.size, latest.size - due.length)
    }),
  )
})

test('taken entries can be put back; removed ones stay removed', () => {
  const window = createDueWindow()
  window.put(schedule(1), 5)
  assert.equal(window.take(5, 9).length, 1)
  assert.deepEqual([window.nextAt, window.size], [Number.POSITIVE_INFINITY, 0])
  window.put(schedule(1), 7)
  assert.equal(window.nextAt, 7)
  window.clear()
  assert.deepEqual(window.take(9, 9), [])
})

test('an entry that waits for its time is not taken early, and comes first when it is due', () => {
  const window = createDueWindow()
  window.put(schedule(1), 10)
  window.put(schedule(2), 10, true)
  window.put(schedule(3), 20)
  assert.deepEqual([window.nextAt, window.nextAheadAt, window.countAhead(10, 9)], [10, 10, 1])
  const ids = (entries: readonly { schedule: ScheduleRecord }[]) =>
    entries.map((entry) => entry.schedule.id)
  assert.deepEqual(ids(window.takeAhead(10, 9)), [1])
  assert.deepEqual([window.nextAt, window.nextAheadAt], [10, 20])
  window.put(schedule(1), 10)
  assert.deepEqual(ids(window.take(10, 9)), [2, 1])
  assert.deepEqual([window.nextAt, window.size], [20, 1])
})

test('upcoming entries can be read without taking them', () => {
  const window = createDueWindow()
  for (const [id, at] of [
    [1, 30],
    [2, 10],
    [3, 20],
    [4, 10],
  ] as const) {
    window.put(schedule(id), at)
  }
  window.put(schedule(2), 40)
  const soon = (until: number, most: number) =>
    window.upcoming(until, most).map((entry) => entry.schedule.id)
  assert.deepEqual(soon(20, 9), [4, 3])
  assert.deepEqual(soon(40, 1), [1])
  assert.deepEqual(soon(40, 9), [2])
  assert.deepEqual(soon(40, 9), [])
  window.put(schedule(3), 25)
  assert.deepEqual(soon(40, 9), [3])
  window.put(schedule(1), 30)
  assert.equal(window.take(30, 9).length, 3)
  assert.deepEqual(soon(40, 9), [])
  assert.equal(window.size, 1)
})
