import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { localTime } from './local-time.ts'
import { needsZone, readWhen } from './when.ts'

/** A Friday, 14:30 in Berlin, two days before a clock change. */
const NOW = Date.UTC(2026, 9, 23, 12, 30)
const BERLIN = { now: NOW, zone: 'Europe/Berlin' }

/** Texts with the same meaning in both directions. */
const FIXED: readonly [text: string, local: string][] = [
  ['now', '2026-10-23T14:30:00+02:00'],
  ['in 2 hours', '2026-10-23T16:30:00+02:00'],
  ['in an hour', '2026-10-23T15:30:00+02:00'],
  ['in 1h30m', '2026-10-23T16:00:00+02:00'],
  ['in 1 hour and 30 minutes', '2026-10-23T16:00:00+02:00'],
  ['2h from now', '2026-10-23T16:30:00+02:00'],
  ['in 3 days', '2026-10-26T13:30:00+01:00'],
  ['5m ago', '2026-10-23T14:25:00+02:00'],
  ['5 min ago', '2026-10-23T14:25:00+02:00'],
  ['a week ago', '2026-10-16T14:30:00+02:00'],
  ['24h ago', '2026-10-22T14:30:00+02:00'],
  ['0s ago', '2026-10-23T14:30:00+02:00'],
  ['today', '2026-10-23T00:00:00+02:00'],
  ['today 17:00', '2026-10-23T17:00:00+02:00'],
  ['today at 9:00', '2026-10-23T09:00:00+02:00'],
  ['tomorrow', '2026-10-24T00:00:00+02:00'],
  ['Tomorrow 09:00', '2026-10-24T09:00:00+02:00'],
  ['tomorrow  at noon', '2026-10-24T12:00:00+02:00'],
  ['tomorrow 5pm', '2026-10-24T17:00:00+02:00'],
  ['tomorrow at 5:30 pm', '2026-10-24T17:30:00+02:00'],
  ['yesterday', '2026-10-22T00:00:00+02:00'],
  ['yesterday 00:00', '2026-10-22T00:00:00+02:00'],
  ['yesterday 23:59:59', '2026-10-22T23:59:59+02:00'],
  ['next friday', '2026-10-30T00:00:00+01:00'],
  ['next mon 09:00', '2026-10-26T09:00:00+01:00'],
  ['last friday', '2026-10-16T00:00:00+02:00'],
  ['last monday at 09:00', '2026-10-19T09:00:00+02:00'],
  ['2026-11-18', '2026-11-18T00:00:00+01:00'],
  ['2026-11-18 9:00', '2026-11-18T09:00:00+01:00'],
  ['2026-11-18 noon', '2026-11-18T12:00:00+01:00'],
  ['2026-11-18 at 5pm', '2026-11-18T17:00:00+01:00'],
  ['2026-11-18 05:30pm', '2026-11-18T17:30:00+01:00'],
  ['2026-11-18 05:30 PM', '2026-11-18T17:30:00+01:00'],
  ['2027-01-01T09:00', '2027-01-01T09:00:00+01:00'],
  ['2027-01-01 09:00', '2027-01-01T09:00:00+01:00'],
  ['2027-01-01 09:00:30', '2027-01-01T09:00:30+01:00'],
  ['2027-01-01T09:00:00Z', '2027-01-01T10:00:00+01:00'],
  ['2027-01-01T09:00:00.250z', '2027-01-01T10:00:00.250+01:00'],
  ['2027-01-01 09:00 +05:30', '2027-01-01T04:30:00+01:00'],
  ['2027-01-01 09:00 Z', '2027-01-01T10:00:00+01:00'],
  ['2027-01-01T09:00 America/New_York', '2027-01-01T15:00:00+01:00'],
  ['tomorrow 09:00 utc', '2026-10-24T11:00:00+02:00'],
  ['tomorrow 09:00 Asia/Tokyo', '2026-10-24T02:00:00+02:00'],
  ['today Pacific/Kiritimati', '2026-10-23T12:00:00+02:00'],
  ['tomorrow 09:00 -04:00', '2026-10-24T15:00:00+02:00'],
  // The format of times in command line tables.
  ['Wed 18 Nov 09:00 +01:00', '2026-11-18T09:00:00+01:00'],
  ['Sat 1 Jan 2028 02:00:30 +05:45', '2027-12-31T21:15:30+01:00'],
  ['18 nov', '2026-11-18T00:00:00+01:00'],
  ['november 18th, 2027 at noon', '2027-11-18T12:00:00+01:00'],
  // Around a clock change: the end of the gap; the first of two equal times.
  ['2026-03-29 02:30', '2026-03-29T03:00:00+02:00'],
  ['2026-10-25 02:30', '2026-10-25T02:30:00+02:00'],
]
for (const [text, local] of FIXED) {
  test(`${text} is ${local}`, () => {
    assert.equal(localTime(readWhen(text, BERLIN), BERLIN.zone), local)
    const past = readWhen(text, { ...BERLIN, direction: 'past' })
    assert.equal(localTime(past, BERLIN.zone), local)
  })
}

/** Texts that differ between a reader of the past (`--since`) and one of the future (`at`). */
const TURNED: readonly [text: string, future: string, past: string][] = [
  ['24h', '2026-10-24T14:30:00+02:00', '2026-10-22T14:30:00+02:00'],
  ['1h30m', '2026-10-23T16:00:00+02:00', '2026-10-23T13:00:00+02:00'],
  ['2 hours', '2026-10-23T16:30:00+02:00', '2026-10-23T12:30:00+02:00'],
  ['1.5h', '2026-10-23T16:00:00+02:00', '2026-10-23T13:00:00+02:00'],
  ['15:00', '2026-10-23T15:00:00+02:00', '2026-10-22T15:00:00+02:00'],
  ['09:00', '2026-10-24T09:00:00+02:00', '2026-10-23T09:00:00+02:00'],
  ['at 9am', '2026-10-24T09:00:00+02:00', '2026-10-23T09:00:00+02:00'],
  ['14:30', '2026-10-24T14:30:00+02:00', '2026-10-23T14:30:00+02:00'],
  ['midnight', '2026-10-24T00:00:00+02:00', '2026-10-23T00:00:00+02:00'],
  ['friday', '2026-10-30T00:00:00+01:00', '2026-10-23T00:00:00+02:00'],
  ['friday 17:30', '2026-10-23T17:30:00+02:00', '2026-10-16T17:30:00+02:00'],
  ['on friday at 09:00', '2026-10-30T09:00:00+01:00', '2026-10-23T09:00:00+02:00'],
  ['mon 09:00', '2026-10-26T09:00:00+01:00', '2026-10-19T09:00:00+02:00'],
  ['sunday 02:30', '2026-10-25T02:30:00+02:00', '2026-10-18T02:30:00+02:00'],
  ['09:00 UTC', '2026-10-24T11:00:00+02:00', '2026-10-23T11:00:00+02:00'],
]
for (const [text, future, past] of TURNED) {
  test(`${text} is ${future} in the future and ${past} in the past`, () => {
    assert.equal(localTime(readWhen(text, BERLIN), BERLIN.zone), future)
    const back = readWhen(text, { ...BERLIN, direction: 'past' })
    assert.equal(localTime(back, BERLIN.zone), past)
  })
}

const REFUSED: readonly [text: string, message: RegExp, hint?: RegExp][] = [
  ['', /it is empty/],
  ['soon', /"soon" is not a time/],
  ['in', /not a time/],
  ['in a while', /not a time/],
  ['in 2', /not a time/],
  ['90', /not a time/],
  ['in -2 hours', /not a time/],
  ['-2h', /not a time/],
  ['2 hours in', /not a time/],
  ['in 5m ago', /not a time/],
  ['in 1 month', /not a time/],
  ['25:00', /not a time/],
  ['09:60', /not a time/],
  ['13pm', /not a time/],
  ['tomorrow 24:00', /not a time/],
  ['tomorrow at', /not a time/],
  ['at', /not a time/],
  ['UTC', /not a time/],
  ['friday friday 09:00', /not a time/],
  ['next 09:00', /not a time/],
  ['2026-11', /not a time/],
  ['18.11.2026', /not a time/],
  ['11/18/2026', /not a time/],
  ['20261118', /not a time/],
  ['1763290000', /not a time/],
  ['2027-02-30', /no 2027-02-30 in the calendar/, /2026-12-01T09:00/],
  ['2027-02-30T09:00', /no 2027-02-30 in the calendar/, /2026-12-01T09:00/],
  ['30 feb', /no 2026-02-30/, /2026-12-01T09:00/],
  ['2027-01-01T24:00', /no day has the time/, /23:59:59/],
  ['Sat 18 Nov', /18 November 2026 is a Wednesday, not a Saturday/],
  ['tomorow 09:00', /"tomorow 09:00" is not a time/, /Did you mean tomorrow\? Write/],
  ['wensday', /not a time/, /Did you mean wednesday\?/],
  ['tomorrow 09:00 Europe/Athen', /not the name of a zone/, /Europe\/Athens/],
  ['2027-01-01T09:00Z Europe/Athens', /an offset and a zone/, /one of them/],
  ['tomorrow 09:00 +25:00', /no zone has the offset \+25:00/],
  ['1969-12-31', /between 1970 and 9999/, /./],
  ['99 years ago', /not a time/],
  ['3000w ago', /between 1970 and 9999/],
  ['\u0662026-11-18', /is not a time/],
  ['x'.repeat(5_000), /not a time/],
]
for (const [text, message, hint = /tomorrow 09:00/] of REFUSED) {
  test(`rejects "${text.slice(0, 40)}"`, () => {
    assert.throws(() => readWhen(text, BERLIN, '--until'), {
      code: 'invalid_schedule',
      field: '--until',
      hint,
      message: new RegExp(`^--until: .*${message.source}`),
    })
  })
}

test("knows without parsing whether a text depends on the reader's zone", () => {
  for (const text of ['today', '09:00', 'friday', '2026-11-18', '2026-11-18T09:00', '18 nov']) {
    assert.equal(needsZone(text), true, text)
  }
  const fixed = ['now', '24h', '5m ago', 'in 2 hours', '2026-11-18T09:00:00Z', '09:00 +02:00']
  for (const text of [...fixed, 'today UTC', '09:00 Europe/Athens']) {
    assert.equal(needsZone(text), false, text)
  }
})

test('any text is a time or is rejected, quickly and with a short message', () => {
  const words = fc.constantFrom(
    'in',
    'ago',
    'at',
    'on',
    'next',
    'last',
    'tomorrow',
    'friday',
    'nov',
    '18',
    '2026',
    '09:00',
    '5pm',
    'noon',
    '2h',
    'a',
    'week',
    'and',
    'utc',
    'Z',
    '+02:00',
    '2026-11-18',
    ',',
  )
  const text = fc.oneof(
    fc.string(),
    fc.array(words, { maxLength: 6 }).map((list) => list.join(' ')),
  )
  const directions = fc.constantFrom('future' as const, 'past' as const)
  fc.assert(
    fc.property(text, directions, (value, direction) => {
      try {
        const instant = readWhen(value, { ...BERLIN, direction })
        assert.ok(Number.isInteger(instant), `${value} is ${instant}`)
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'invalid_schedule', String(error))
        assert.ok((error as Error).message.length < 250)
      }
    }),
    { numRuns: 3_000 },
  )
})
