import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRule, zoneNames } from '../index.ts'
import { zoneNamed } from './zone-names.ts'
import { offsetReader } from './zone.ts'

const at = (text: string) => Date.parse(text) / 1_000

test('every zone has the offsets of the runtime, from 1970 to 9999', () => {
  const years = [1970, 1971, 1995, 2011, 2026, 2037, 2038, 2087, 2100, 2101, 2128, 2129, 2400, 9998]
  for (const name of zoneNames()) {
    const zone = zoneNamed(name)
    const offsetAt = offsetReader(name)
    for (const year of years) {
      for (let month = 0; month < 12; month++) {
        const second = Date.UTC(year, month, 1 + ((year * 7 + month * 5) % 28), month) / 1_000
        const { from, to, offset } = zone.periodAt(second)
        assert.ok(from <= second && second < to, `${name} at ${second}`)
        assert.equal(
          offset,
          offsetAt(second),
          `${name} at ${new Date(second * 1_000).toISOString()}`,
        )
      }
    }
  }
})

const CHANGES: readonly [why: string, zone: string, at: string, from: number, to: number][] = [
  ['an hour forward', 'America/New_York', '2026-03-08T07:00:00Z', -5, -4],
  ['an hour back', 'America/New_York', '2026-11-01T06:00:00Z', -4, -5],
  ['half an hour', 'Australia/Lord_Howe', '2026-10-03T15:30:00Z', 10.5, 11],
  ['at midnight', 'America/Santiago', '2026-09-06T04:00:00Z', -4, -3],
  ['winter time as the exception', 'Europe/Dublin', '2026-10-25T01:00:00Z', 1, 0],
  ['Ramadan', 'Africa/Casablanca', '2026-02-15T02:00:00Z', 1, 0],
  ['a day that never was', 'Pacific/Apia', '2011-12-30T10:00:00Z', -10, 14],
  ['odd seconds', 'Africa/Monrovia', '1972-01-07T00:44:30Z', -2_670 / 3_600, 0],
  ['after 2037', 'Europe/Athens', '2077-03-28T01:00:00Z', 2, 3],
  ['after 2128', 'Europe/Athens', '2477-03-28T01:00:00Z', 2, 3],
]
for (const [why, name, change, from, to] of CHANGES) {
  test(`${name} changes its clocks: ${why}`, () => {
    const period = zoneNamed(name).periodAt(at(change))
    assert.deepEqual(
      { from: period.from, before: period.before / 3_600, offset: period.offset / 3_600 },
      { from: at(change), before: from, offset: to },
    )
    const earlier = zoneNamed(name).periodAt(at(change) - 1)
    assert.deepEqual([earlier.to, earlier.after], [period.from, period.offset])
  })
}

const NO_ZONES: readonly [name: string, hint?: RegExp][] = [
  ['Foo/Bar'],
  ['', /IANA/],
  ['../../etc/passwd', /IANA/],
  ['+25:00'],
  ['+05:30'],
  ['utc', /UTC/],
  ['europe/athens', /Europe\/Athens/],
  ['Athens', /Europe\/Athens/],
  ['new york', /America\/New_York/],
  ['Europe/Londn', /Europe\/London/],
  ['AST'],
  ['SystemV/AST4'],
  ['Europe/Athens\0'],
  ['posixrules'],
  ['x'.repeat(10_000)],
]
for (const [zone, hint] of NO_ZONES) {
  test(`rejects ${JSON.stringify(zone.slice(0, 40))} as a zone`, () => {
    const reading = readRule({ cron: '@daily', zone })
    assert.ok(!reading.ok)
    assert.equal(reading.problem.field, 'zone')
    assert.match(reading.problem.hint ?? '', hint ?? /./)
  })
}

test('accepts links of the IANA database', () => {
  for (const zone of [
    'Europe/Kyiv',
    'US/Eastern',
    'Asia/Kolkata',
    'Etc/GMT+5',
    'EST5EDT',
    'Zulu',
  ]) {
    assert.ok(readRule({ cron: '@daily', zone }).ok, zone)
  }
})
