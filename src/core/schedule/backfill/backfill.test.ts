import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { OccurrenceOutcome } from '../firing/occurrence.ts'
import type { RunState } from '../../run/run-state.ts'
import { isWanted, timesAfter, timesWithin, BACKFILL_SELECTIONS } from './backfill.ts'

const hourly = { next: (after: number) => (Math.floor(after / 10) + 1) * 10 }

test('lists the times of a range in either order and continues after a given time', () => {
  const all = timesWithin(hourly, 10, 40, 4)
  assert.deepEqual(all, [10, 20, 30, 40])
  assert.equal(timesWithin(hourly, 10, 40, 3), null)
  assert.deepEqual(timesWithin(hourly, 11, 19, 3), [])
  const times = [10, 20, 30]
  assert.deepEqual(timesAfter(times, 'forward', null), [10, 20, 30])
  assert.deepEqual(timesAfter(times, 'forward', 20), [30])
  assert.deepEqual(timesAfter(times, 'reverse', null), [30, 20, 10])
  assert.deepEqual(timesAfter(times, 'reverse', 20), [10])
})

describe('isWanted', () => {
  const TABLE: [
    outcome: OccurrenceOutcome | null,
    latest: RunState | null,
    hadRun: boolean,
    by: string,
  ][] = [
    [null, null, false, 'missing all'],
    ['missed', null, false, 'missing all'],
    ['skipped', null, false, 'missing all'],
    ['merged', null, false, 'all'],
    ['fired', 'succeeded', true, 'all'],
    ['fired', 'failed', true, 'failed all'],
    ['missed', 'failed', true, 'failed all'],
    ['missed', 'succeeded', true, 'all'],
    ['fired', 'cancelled', true, 'all'],
    ['fired', 'running', true, ''],
    ['blocked', 'blocked', true, ''],
    ['fired', null, true, 'all'],
  ]
  for (const [outcome, latest, hadRun, by] of TABLE) {
    test(`${outcome}, ${latest}: selected by ${by || 'none'}`, () => {
      const wanted = BACKFILL_SELECTIONS.filter((which) =>
        isWanted(which, { outcome, latest, hadRun }),
      )
      assert.equal(wanted.join(' '), by)
    })
  }
})
