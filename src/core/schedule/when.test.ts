import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localTime } from './local-time.ts'
import { readWhen } from './when.ts'

/** A Friday afternoon, two days before clocks change. */
const NOW = Date.UTC(2026, 9, 23, 12, 30)
const BERLIN = { now: NOW, zone: 'Europe/Berlin' }

const table: [text: string, local: string][] = [
  ['in 2 hours', '2026-10-23T16:30:00+02:00'],
  ['in an hour', '2026-10-23T15:30:00+02:00'],
  ['in 1h30m', '2026-10-23T16:00:00+02:00'],
  ['in 3 days', '2026-10-26T13:30:00+01:00'],
  ['today 17:00', '2026-10-23T17:00:00+02:00'],
  ['today at 9:00', '2026-10-23T09:00:00+02:00'],
  ['Tomorrow 09:00', '2026-10-24T09:00:00+02:00'],
  ['tomorrow  at noon', '2026-10-24T12:00:00+02:00'],
  ['15:00', '2026-10-23T15:00:00+02:00'],
  ['09:00', '2026-10-24T09:00:00+02:00'],
  ['midnight', '2026-10-24T00:00:00+02:00'],
  ['friday 17:30', '2026-10-23T17:30:00+02:00'],
  ['on friday at 09:00', '2026-10-30T09:00:00+01:00'],
  ['mon 09:00', '2026-10-26T09:00:00+01:00'],
  ['2027-01-01T09:00', '2027-01-01T09:00:00+01:00'],
  ['2027-01-01 09:00', '2027-01-01T09:00:00+01:00'],
  ['2027-01-01T09:00:00Z', '2027-01-01T10:00:00+01:00'],
  ['sunday 02:30', '2026-10-25T02:30:00+02:00'],
]

for (const [text, local] of table) {
  test(`${text} is ${local}`, () => {
    assert.equal(localTime(readWhen(text, BERLIN), BERLIN.zone), local)
  })
}

for (const text of [
  ...['', 'soon', 'in', 'in a while', 'in 2', 'in -2 hours', 'tomorrow', 'yesterday 09:00'],
  ...['25:00', '09:60', 'tomorrow 24:00', '2027-02-30T09:00', '2027-01-01', 'friday friday 09:00'],
]) {
  test(`"${text}" is no time`, () => {
    assert.throws(() => readWhen(text, BERLIN, '--until'), {
      code: 'invalid_schedule',
      field: '--until',
      hint: /tomorrow 09:00/,
    })
  })
}
