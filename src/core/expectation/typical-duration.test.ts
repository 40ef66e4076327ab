import assert from 'node:assert/strict'
import { test } from 'node:test'
import { typicalDurationMs, withTypicalDuration } from './typical-duration.ts'

const table: [why: string, durations: number[], expected: number | null][] = [
  ['no durations', [], null],
  ['four are too few', [1_000, 1_000, 1_000, 1_000], null],
  ['five are enough', [5_000, 1_000, 3_000, 2_000, 4_000], 3_000],
  ['an even number: between the two in the middle', [6, 1, 2, 3, 4, 5], 3.5],
  ['one outlier of a day changes nothing', [10, 11, 12, 13, 86_400_000], 12],
]
for (const [why, durations, expected] of table) {
  test(why, () => assert.equal(typicalDurationMs(durations), expected))
}

const typicalMultiple = { scheduleId: 7, times: 2 }
const FIVE = [60_000, 60_000, 60_000, 60_000, 60_000]

test('the maximum duration is a multiple of the typical one, and absent without a typical one', () => {
  assert.deepEqual(withTypicalDuration({ typicalMultiple, endBy: 9 }, FIVE), {
    endBy: 9,
    longestMs: 120_000,
  })
  assert.deepEqual(withTypicalDuration({ typicalMultiple, endBy: 9 }, FIVE.slice(1)), { endBy: 9 })
  assert.deepEqual(withTypicalDuration({ endBy: 9 }, FIVE), { endBy: 9 })
})

test('a maximum duration is at least a second', () => {
  assert.deepEqual(withTypicalDuration({ typicalMultiple }, [3, 3, 3, 3, 3]), { longestMs: 1_000 })
})
