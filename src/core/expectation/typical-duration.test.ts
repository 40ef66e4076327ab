import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usualMs, withUsual } from './typical-duration.ts'

const table: [why: string, durations: number[], usual: number | null][] = [
  ['nothing is known', [], null],
  ['four say nothing', [1_000, 1_000, 1_000, 1_000], null],
  ['five do', [5_000, 1_000, 3_000, 2_000, 4_000], 3_000],
  ['of an even number, between the two in the middle', [6, 1, 2, 3, 4, 5], 3.5],
  ['one that hung for a day changes nothing', [10, 11, 12, 13, 86_400_000], 12],
]
for (const [why, durations, usual] of table) {
  test(why, () => assert.equal(usualMs(durations), usual))
}

const usually = { scheduleId: 7, times: 2 }
const FIVE = [60_000, 60_000, 60_000, 60_000, 60_000]

test('twice what is usual is what it may take, and nothing if nothing is usual', () => {
  assert.deepEqual(withUsual({ usually, endBy: 9 }, FIVE), { endBy: 9, longestMs: 120_000 })
  assert.deepEqual(withUsual({ usually, endBy: 9 }, FIVE.slice(1)), { endBy: 9 })
  assert.deepEqual(withUsual({ endBy: 9 }, FIVE), { endBy: 9 })
})

test('nobody is told of milliseconds', () => {
  assert.deepEqual(withUsual({ usually }, [3, 3, 3, 3, 3]), { longestMs: 1_000 })
})
