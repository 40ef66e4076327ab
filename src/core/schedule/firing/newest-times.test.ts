import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { countTimes, newestTimes, type TimeSequence } from './newest-times.ts'

/** Times from a list; counts how often it is asked. */
function listed(list: readonly number[]): TimeSequence & { steps: number } {
  const rule = {
    steps: 0,
    next(after: number) {
      rule.steps += 1
      return list.find((at) => at > after) ?? null
    },
  }
  return rule
}

const every = (ms: number): TimeSequence & { steps: number } => {
  const rule = {
    steps: 0,
    next(after: number) {
      rule.steps += 1
      return (Math.floor(after / ms) + 1) * ms
    },
  }
  return rule
}

const YEAR_MS = 365 * 86_400_000

test('finds the same newest times as a walk from the first one, for any rule', () => {
  const lists = fc.uniqueArray(fc.integer({ min: 0, max: 200_000 }), {
    minLength: 1,
    maxLength: 60,
  })
  fc.assert(
    fc.property(lists, fc.integer({ min: 1, max: 20 }), fc.nat(250_000), (unsorted, most, now) => {
      const list = unsorted.toSorted((a, b) => a - b)
      const first = list[0] as number
      const expected = list.filter((at) => at <= now)
      const { times, isCut } = newestTimes(listed(list), first, now, most)
      assert.deepEqual(times, expected.slice(-most))
      assert.equal(isCut, expected.length > most)
    }),
    { numRuns: 500 },
  )
})

test('does not walk through a year of seconds', () => {
  const rule = every(1_000)
  const { times, isCut } = newestTimes(rule, 0, YEAR_MS, 100)
  assert.deepEqual([times.length, times.at(-1), isCut], [100, YEAR_MS, true])
  assert.ok(rule.steps < 5_000, `${rule.steps} steps`)
})

test('does not walk through seconds that ended long ago', () => {
  // Every second of the first day, and none after it.
  const rule = every(1_000)
  const ended: TimeSequence = {
    next: (after) => {
      const at = rule.next(after)
      return at !== null && at <= 86_400_000 ? at : null
    },
  }
  const { times } = newestTimes(ended, 0, YEAR_MS, 100)
  assert.deepEqual([times.length, times.at(-1)], [100, 86_400_000])
  assert.ok(rule.steps < 20_000, `${rule.steps} steps`)
})

test('stops counting beyond the maximum', () => {
  assert.equal(countTimes(every(1_000), 1_000, 5_999, 10), 5)
  assert.equal(countTimes(every(1_000), 1_000, 10_000, 10), 10)
  assert.equal(countTimes(every(1_000), 1_000, 11_000, 10), null)
  assert.equal(countTimes(every(1_000), 1_001, 1_999, 10), 0)
})
