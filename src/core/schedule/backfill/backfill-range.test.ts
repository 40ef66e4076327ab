import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRange } from './backfill-range.ts'

const HOUR = 3_600_000
const NOW = Date.UTC(2026, 10, 18, 12)
/** Hours from now. */
type Hours = number

const TAKEN: readonly [
  why: string,
  from: Hours,
  until: Hours | null,
  open: Hours | null,
  end: Hours,
][] = [
  ['an end in the past', -24, -2, 1, -2],
  ['no end', -24, null, 1, 0],
  ['an end that is now', -24, 0, 1, 0],
  ['an end ahead by the difference of two clocks', -24, 4 / 3_600, 1, 0],
  ['a single instant', -3, -3, 1, -3],
  ['a start that is now', 0, null, 1, 0],
  ['an ended schedule', -24, null, null, 0],
  ['times the schedule has still to deal with', -24, null, -2, -2 - 1 / HOUR],
]
for (const [why, from, until, open, end] of TAKEN) {
  test(`accepts a range: ${why}`, () => {
    const asked = {
      from: NOW + from * HOUR,
      until: until === null ? undefined : NOW + until * HOUR,
    }
    const openFrom = open === null ? null : NOW + open * HOUR
    const range = checkRange(asked, { now: NOW, openFrom })
    assert.deepEqual(range, { from: asked.from, until: NOW + end * HOUR })
  })
}

const REFUSED: readonly [
  why: string,
  range: readonly [from: Hours, until: Hours | null, open: Hours | null],
  field: string,
  message: RegExp,
][] = [
  ['a start tomorrow', [24, null, 1], 'from', /^2026-11-19T12:00:00Z is in the future$/],
  ['a start in a moment', [1 / 3_600, null, 1], 'from', /^2026-11-18T12:00:01Z is in the future$/],
  ['all of it in the future', [24, 48, 1], 'from', /2026-11-19T12:00:00Z is in the future$/],
  ['an end tomorrow', [-24, 24, 1], 'until', /^2026-11-19T12:00:00Z is in the future$/],
  ['an end in a minute', [-24, 1 / 60, 1], 'until', /in the future/],
  ['an ended schedule, and tomorrow', [24, 48, null], 'from', /in the future/],
  ['an end before the start', [-2, -24, 1], 'until', /T12:00:00Z is before the start/],
  [
    'only times that the schedule itself must handle',
    [-2, null, -3],
    'from',
    /since 2026-11-18T09/,
  ],
  [
    'a start at the time where the schedule continues',
    [-2, null, -2],
    'from',
    /has not yet handled/,
  ],
]
for (const [why, [from, until, open], field, message] of REFUSED) {
  test(`rejects a range: ${why}`, () => {
    const found = checkRange(
      { from: NOW + from * HOUR, until: until === null ? undefined : NOW + until * HOUR },
      { now: NOW, openFrom: open === null ? null : NOW + open * HOUR },
    )
    assert.ok('field' in found, 'it was taken')
    assert.equal(found.field, field)
    assert.match(found.message, message)
    assert.match(found.hint, /\.$/)
  })
}
