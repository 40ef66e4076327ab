import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PunctualError } from '../errors.ts'
import {
  type ExpectationsDefinition,
  readExpectations,
  withExpectationsOf,
  writeExpectations,
} from './expectations.ts'
import { decodeTerms, encodeTerms, nextOnClock, expectationTermsOf } from './terms.ts'

const clocks: [why: string, clock: string, zone: string, after: string, at: string][] = [
  ['later that day', '05:30', 'UTC', '2026-03-04T02:00:00Z', '2026-03-04T05:30:00Z'],
  ['the next day', '05:30', 'UTC', '2026-03-04T06:00:00Z', '2026-03-05T05:30:00Z'],
  ['at that very time it is the next', '05:30', 'UTC', '2026-03-04T05:30:00Z', '2026-03-05T05:30Z'],
  ['on its own clocks', '05:30', 'Asia/Tokyo', '2026-03-04T00:00:00Z', '2026-03-04T20:30:00Z'],
  ['to the second', '23:59:59', 'UTC', '2026-03-04T06:00:00Z', '2026-03-04T23:59:59Z'],
  [
    'in the night of a forward clock change, fewer hours',
    '05:30',
    'Europe/Athens',
    '2026-03-29T00:00:00Z',
    '2026-03-29T02:30:00Z',
  ],
  [
    'a skipped time is the end of the gap',
    '03:30',
    'Europe/Athens',
    '2026-03-29T00:00:00Z',
    '2026-03-29T01:00:00Z',
  ],
  [
    'a repeated time is the first of the two',
    '03:30',
    'Europe/Athens',
    '2026-10-24T23:30:00Z',
    '2026-10-25T00:30:00Z',
  ],
  [
    'between the two it is the second one',
    '03:30',
    'Europe/Athens',
    '2026-10-25T00:45:00Z',
    '2026-10-25T01:30:00Z',
  ],
]
for (const [why, clock, zone, after, at] of clocks) {
  test(`${clock} in ${zone}: ${why}`, () => {
    assert.equal(nextOnClock(clock, zone, Date.parse(after)), Date.parse(at))
  })
}

const TIME = { scheduleId: 7, nominalAt: 1_000, fireAt: 1_200, zone: 'UTC' }

test('a run is expected to end by its nominal time and to start by its fire time', () => {
  const expectations = readExpectations(
    { deadline: '30m', expect: { start: '30s', duration: '2x', output: true } },
    '',
  )
  assert.deepEqual(expectationTermsOf(expectations, TIME), {
    startBy: 31_200,
    endBy: 1_801_000,
    output: true,
    typicalMultiple: { scheduleId: 7, times: 2 },
  })
  assert.deepEqual(expectationTermsOf({ deadlineClock: '00:30' }, TIME), { endBy: 1_800_000 })
  assert.equal(expectationTermsOf({}, TIME), null)
})

const definitions: ExpectationsDefinition[] = [
  {},
  { deadline: '1h30m' },
  { deadline: '05:30' },
  { deadline: '23:59:59', expect: { duration: '20m' } },
  { expect: { start: '30s' } },
  { expect: { start: '1m', duration: '1.5x', output: true } },
]
for (const definition of definitions) {
  test(`the written form of ${JSON.stringify(definition)} reads as the same`, () => {
    assert.deepEqual(writeExpectations(readExpectations(definition, '')), definition)
  })
}

const wrong: [ExpectationsDefinition, field: string][] = [
  [{ deadline: '0s' }, 'deadline'],
  [{ deadline: '25:00' }, 'deadline'],
  [{ deadline: '5:30' }, 'deadline'],
  [{ deadline: '05:60' }, 'deadline'],
  [{ deadline: '05:30 pm' }, 'deadline'],
  [{ deadline: 'soon' }, 'deadline'],
  [{ expect: {} }, 'expect'],
  [{ expect: { start: '0s' } }, 'expect.start'],
  [{ expect: { start: '05:30' } }, 'expect.start'],
  [{ expect: { duration: '1x' } }, 'expect.duration'],
  [{ expect: { duration: '0.5x' } }, 'expect.duration'],
  [{ expect: { duration: '101x' } }, 'expect.duration'],
  [{ expect: { duration: '-2x' } }, 'expect.duration'],
  [{ expect: { duration: 'x' } }, 'expect.duration'],
  [{ expect: { duration: '2' } }, 'expect.duration'],
]
for (const [definition, field] of wrong) {
  test(`rejects ${JSON.stringify(definition)}`, () => {
    assert.throws(
      () => readExpectations(definition, 'schedule.'),
      (error) => error instanceof PunctualError && error.field === `schedule.${field}`,
    )
  })
}

test('each expectation of a schedule replaces that of its job', () => {
  const job = readExpectations({ deadline: '05:30', expect: { duration: '2x', start: '1m' } }, '')
  const own = readExpectations({ deadline: '1h', expect: { output: true } }, '')
  assert.deepEqual(writeExpectations(withExpectationsOf(job, own)), {
    deadline: '1h',
    expect: { start: '1m', duration: '2x', output: true },
  })
  assert.deepEqual(writeExpectations(withExpectationsOf(own, job)), {
    deadline: '05:30',
    expect: { start: '1m', duration: '2x', output: true },
  })
})

test('terms are stored with the names of their first version', () => {
  const terms = { endBy: 9, typicalMultiple: { scheduleId: 7, times: 2 }, output: true } as const
  const stored = encodeTerms(terms)
  assert.deepEqual(JSON.parse(stored), {
    endBy: 9,
    usually: { scheduleId: 7, times: 2 },
    output: true,
  })
  assert.deepEqual(decodeTerms(stored), terms)
  assert.deepEqual(decodeTerms(encodeTerms({ endBy: 9 })), { endBy: 9 })
})
