import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRule, type RuleSource } from './index.ts'

/** The fires of a rule after an instant, in a short form. */
function fires(source: RuleSource, from: string, count: number): string[] {
  const reading = readRule(source)
  assert.ok(reading.ok, JSON.stringify(reading))
  const found: string[] = []
  let at = Date.parse(from) - 1
  while (found.length < count) {
    const next = reading.rule.next(at)
    if (next === null) return [...found, 'never']
    found.push(new Date(next).toISOString().replace(/(:00)?\.000Z$/, ''))
    at = next
  }
  return found
}

/** A hundred years without a leap day. */
const NOT_LEAP = Array.from({ length: 130 }, (_, index) => 1970 + index)
  .filter((year) => year % 4 !== 0)
  .join()

const TABLE: readonly [why: string, source: RuleSource, from: string, expected: string[]][] = [
  ['the next minute', { cron: '* * * * *' }, '2026-01-01T00:00:01Z', ['2026-01-01T00:01']],
  ['the same minute', { cron: '* * * * *' }, '2026-01-01T00:00:00Z', ['2026-01-01T00:00']],
  [
    'a part of a second',
    { cron: '* * * * * *' },
    '2026-01-01T00:00:00.001Z',
    ['2026-01-01T00:00:01'],
  ],
  [
    'over the end of a year',
    { cron: '59 23 31 12 *' },
    '2026-12-31T23:59:01Z',
    ['2027-12-31T23:59'],
  ],
  ['to the next leap year', { cron: '0 0 29 2 *' }, '2097-01-01T00:00:00Z', ['2104-02-29T00:00']],
  [
    'one of date and weekday is enough if both are named',
    { cron: '0 0 13 * 5' },
    '2026-02-01T00:00:00Z',
    [
      '2026-02-06T00:00',
      '2026-02-13T00:00',
      '2026-02-20T00:00',
      '2026-02-27T00:00',
      '2026-03-06T00:00',
    ],
  ],
  [
    'both must match if one begins with a star',
    { cron: '0 0 */2 * 1' },
    '2026-02-01T00:00:00Z',
    ['2026-02-09T00:00', '2026-02-23T00:00', '2026-03-09T00:00'],
  ],
  [
    'the last day',
    { cron: '0 0 L * *' },
    '2028-02-01T00:00:00Z',
    ['2028-02-29T00:00', '2028-03-31T00:00'],
  ],
  ['before the last day', { cron: '0 0 L-1 2 *' }, '2026-02-01T00:00:00Z', ['2026-02-27T00:00']],
  [
    'the last working day, when the month ends on a Sunday or a Saturday',
    { cron: '0 0 LW * *' },
    '2026-01-31T00:00:00Z',
    ['2026-02-27T00:00', '2026-03-31T00:00', '2026-04-30T00:00', '2026-05-29T00:00'],
  ],
  [
    'the working day nearest to three days before the last: 28 June is a Sunday, 28 March a Saturday',
    { cron: '0 0 L-3W * *' },
    '2026-01-01T00:00:00Z',
    ['2026-01-28T00:00', '2026-02-25T00:00', '2026-03-27T00:00', '2026-04-27T00:00'],
  ],
  [
    'a working day near the first stays in its month',
    { cron: '0 0 L-30W * *' },
    '2026-08-01T00:00:00Z',
    ['2026-08-03T00:00', '2026-10-01T00:00', '2026-12-01T00:00'],
  ],
  [
    'in years that are named, by local clocks',
    { cron: '30 0 1 1 * 2027,2030', zone: 'Pacific/Auckland' },
    '2026-01-01T00:00:00Z',
    ['2026-12-31T11:30', '2029-12-31T11:30', 'never'],
  ],
  [
    'until the last second of a year',
    { cron: '59 59 23 * * * 2027', zone: 'America/New_York' },
    '2027-12-31T00:00:00Z',
    ['2027-12-31T04:59:59', '2028-01-01T04:59:59', 'never'],
  ],
  [
    'in the only leap year of many that are named',
    { cron: `0 0 29 2 * 2096,${NOT_LEAP}` },
    '1970-01-01T00:00:00Z',
    ['2096-02-29T00:00', 'never'],
  ],
  [
    'in a year far away',
    { cron: '0 0 29 2 MON 2096' },
    '1970-01-01T00:00:00Z',
    ['2096-02-06T00:00'],
  ],
  [
    'a time in a gap of a year that is named',
    { cron: '30 2 * 3 SUN#2 2027', zone: 'America/New_York' },
    '2026-01-01T00:00:00Z',
    ['2027-03-14T07:00', 'never'],
  ],
  [
    'the nearest working day stays in its month',
    { cron: '0 0 1W * *' },
    '2026-08-01T00:00:00Z',
    ['2026-08-03T00:00', '2026-09-01T00:00', '2026-10-01T00:00', '2026-11-02T00:00'],
  ],
  [
    'a working day that a month has not',
    { cron: '0 0 31W * *' },
    '2026-02-01T00:00:00Z',
    ['2026-03-31T00:00', '2026-05-29T00:00'],
  ],
  [
    'the fifth Friday',
    { cron: '0 0 * * 5#5' },
    '2026-02-01T00:00:00Z',
    ['2026-05-29T00:00', '2026-07-31T00:00'],
  ],
  [
    'the last Friday',
    { cron: '0 17 * * 5L' },
    '2026-02-01T00:00:00Z',
    ['2026-02-27T17:00', '2026-03-27T17:00'],
  ],
  [
    'seconds',
    { cron: '10/20 5 0 1 1 *' },
    '2026-01-01T00:05:11Z',
    ['2026-01-01T00:05:30', '2026-01-01T00:05:50', '2027-01-01T00:05:10'],
  ],
  [
    'a fixed rate counts from 1970',
    { cron: '@every 90s' },
    '2026-01-01T00:00:01Z',
    ['2026-01-01T00:01:30', '2026-01-01T00:03'],
  ],
  [
    'or from its start',
    { every: '90s', start: '2026-01-01T00:00:07Z' },
    '2025-01-01T00:00:00Z',
    ['2026-01-01T00:00:07', '2026-01-01T00:01:37'],
  ],
  [
    'start and end may fire themselves',
    { cron: '@daily', start: '2026-01-02T00:00:00Z', end: '2026-01-03T00:00:00Z' },
    '2025-01-01T00:00:00Z',
    ['2026-01-02T00:00', '2026-01-03T00:00', 'never'],
  ],
  [
    'once',
    { at: '2026-05-01T12:00:00+02:00' },
    '2026-01-01T00:00:00Z',
    ['2026-05-01T10:00', 'never'],
  ],
  ['once is over', { at: '2026-05-01T12:00:00+02:00' }, '2026-05-01T10:00:01Z', ['never']],
  [
    'once, on the clocks of a place',
    { at: '2026-05-01T12:00', zone: 'Europe/Athens' },
    '2026-01-01T00:00:00Z',
    ['2026-05-01T09:00'],
  ],
  [
    'once, in a gap',
    { at: '2026-03-29T03:30', zone: 'Europe/Athens' },
    '2026-01-01T00:00:00Z',
    ['2026-03-29T01:00'],
  ],
  [
    'once, the first of two',
    { at: '2026-10-25T03:30', zone: 'Europe/Athens' },
    '2026-01-01T00:00:00Z',
    ['2026-10-25T00:30'],
  ],
  [
    'once, the last of two',
    { at: '2026-10-25T03:30', zone: 'Europe/Athens', dst: { repeat: 'last' } },
    '2026-01-01T00:00:00Z',
    ['2026-10-25T01:30', 'never'],
  ],
  [
    'once, on the day Apia skipped',
    { at: '2011-12-30T12:00', zone: 'Pacific/Apia' },
    '2011-01-01T00:00:00Z',
    ['2011-12-30T10:00'],
  ],
  [
    'in the last year there is',
    { cron: '59 59 23 31 12 *' },
    '9999-01-01T00:00:00Z',
    ['9999-12-31T23:59:59', 'never'],
  ],
]
for (const [why, source, from, expected] of TABLE) {
  test(`next: ${why}`, () => assert.deepEqual(fires(source, from, expected.length), expected))
}

test('two fires may be forty years apart', () => {
  const leapDays = Array.from({ length: 250 }, (_, index) => Date.UTC(2000 + index, 1, 29))
    .map((ms) => new Date(ms))
    .filter((date) => date.getUTCMonth() === 1)
  for (let weekday = 0; weekday < 7; weekday++) {
    const expected = leapDays
      .filter((date) => date.getUTCDay() === weekday)
      .map((date) => date.toISOString().slice(0, 16))
    const found = fires({ cron: `0 0 * 2 ${weekday}#5` }, '2000-01-01T00:00:00Z', expected.length)
    assert.deepEqual(found, expected)
  }
})

test('a rule that waits for the end of runs counts from there', () => {
  const reading = readRule({ every: '5m after finish' })
  assert.ok(reading.ok)
  assert.equal(reading.rule.afterFinish, 300_000)
  assert.equal(reading.rule.next(1_234), 301_234)
})

test('a rule with no delay after the end of runs still returns a later time', () => {
  const reading = readRule({ every: '0s after finish' })
  assert.ok(reading.ok)
  assert.deepEqual([reading.rule.afterFinish, reading.rule.text], [0, '0s after finish'])
  assert.equal(reading.rule.next(1_234), 1_235)
  const again = readRule({ every: reading.rule.describe() })
  assert.deepEqual(again.ok && again.rule.text, '0s after finish')
})

test('the answer is always a later instant or none', () => {
  for (const source of [{ cron: '* * * * * *' }, { every: '1s' }, { at: '2026-05-01T12:00:00Z' }]) {
    const reading = readRule({ ...source, zone: 'Europe/Athens' })
    assert.ok(reading.ok)
    for (const after of [NaN, Infinity, 8.64e15, 2 ** 60])
      assert.equal(reading.rule.next(after), null)
    for (const after of [-Infinity, -8.64e15, -1]) assert.ok(reading.rule.next(after)! >= 0)
  }
})

const REFUSED: readonly [why: string, source: RuleSource, field: string, message: RegExp][] = [
  ['nothing', {}, 'cron', /does not say when/],
  ['two things', { cron: '@daily', every: '5m' }, 'cron', /more than once/],
  [
    'no such policy',
    { cron: '@daily', dst: { gap: 'later' as 'skip' } },
    'dst.gap',
    /run-after, skip/,
  ],
  [
    'no such policy for repeats',
    { cron: '@daily', dst: { repeat: 'x' as 'both' } },
    'dst.repeat',
    /first, both/,
  ],
  [
    'an end before the first fire',
    { cron: '@yearly', start: '2026-01-02T00:00:00Z', end: '2026-03-01T00:00:00Z' },
    'end',
    /never fires from/,
  ],
  [
    'an end before the start',
    { every: '5m', start: '2026-01-02T00:00:00Z', end: '2026-01-01T00:00:00Z' },
    'end',
    /never fires/,
  ],
  [
    'a start without an offset',
    { cron: '@daily', start: '2026-01-02T00:00:00' },
    'start',
    /has no zone/,
  ],
  [
    'times that clock changes skip',
    {
      cron: '30 2 * 3 SUN#2',
      zone: 'America/New_York',
      start: '2026-01-01T00:00:00Z',
      dst: { gap: 'skip' },
    },
    'cron',
    /clock change/,
  ],
  ['a jitter below zero', { cron: '@daily', jitter: -1 }, 'jitter', /0 and 7d/],
  ['a jitter without a unit', { cron: '@daily', jitter: '5' }, 'jitter', /not a duration/],
  ['a jitter of weeks', { cron: '@daily', jitter: '8d' }, 'jitter', /0 and 7d/],
  ['cron as words', { every: '0 9 * * 1' }, 'every', /written as cron/],
  ['cron of four fields as words', { every: '* * * *' }, 'every', /written as cron/],
  ['half a second', { every: '500ms' }, 'every', /less than a second/],
  ['half a second after the end', { every: '500ms after finish' }, 'every', /less than a second/],
  ['no time at all', { every: '0s' }, 'every', /less than a second/],
  [
    'an instant with an end',
    { at: '2026-01-01T00:00:00Z', end: '2027-01-01T00:00:00Z' },
    'end',
    /cannot have a start or an end/,
  ],
  ['an instant nowhere', { at: '2026-01-01T00:00:00' }, 'at', /has no zone/],
  [
    'an instant in a gap',
    { at: '2026-03-29T03:30', zone: 'Europe/Athens', dst: { gap: 'skip' } },
    'at',
    /clock change/,
  ],
  ['a day that is not', { at: '2026-02-30T00:00:00Z' }, 'at', /no 2026-02-30/],
  ['a day before the first', { at: '2026-02-00T00:00:00Z' }, 'at', /no 2026-02-00/],
  ['a month too many', { at: '2026-13-01T00:00:00Z' }, 'at', /no 2026-13-01/],
  ['a leap second', { at: '2016-12-31T23:59:60Z' }, 'at', /23:59:60/],
  ['an hour too many', { at: '2026-01-01T24:00:00Z' }, 'at', /24:00:00/],
  ['an offset too far', { at: '2026-01-01T00:00:00+25:00' }, 'at', /\+25:00/],
  ['the year 0', { at: '0000-01-01T00:00:00Z' }, 'at', /1970 and 9999/],
  ['the year 275761', { at: '+275761-01-01T00:00:00Z' }, 'at', /not a date/],
  ['before 1970 by its offset', { at: '1970-01-01T00:00:00+01:00' }, 'at', /1970 and 9999/],
  ['a date only', { at: '2026-01-01' }, 'at', /not a date and time/],
  ['words', { at: 'tomorrow' }, 'at', /not a date and time/],
  ['digits of another script', { at: '٢026-01-01T00:00:00Z' }, 'at', /not a date/],
  ['seconds since 1970', { at: 1_763_290_000 }, 'at', /too small/],
  ['a fraction', { at: 1.5e12 + 0.5 }, 'at', /whole number/],
  ['not a number', { at: NaN }, 'at', /whole number/],
  ['beyond 9999', { at: 8.64e15 }, 'at', /1970 and 9999/],
]
for (const [why, source, field, message] of REFUSED) {
  test(`rejects a rule: ${why}`, () => {
    const reading = readRule(source)
    assert.ok(!reading.ok, 'it was taken')
    assert.equal(reading.problem.field, field)
    assert.match(reading.problem.message, message)
  })
}

test('quickly rejects a rule whose times are always skipped by clock changes', () => {
  const dst = { gap: 'skip' } as const
  for (const [years, message] of [
    ['2008-2099', /clock changes skip its times/],
    ['2000-2009', /never fires again: all its times in 2009/],
  ] as const) {
    const source = { cron: `30 2 * 3 SUN#2 ${years}`, zone: 'America/New_York', dst }
    const reading = readRule(source, Date.parse('2026-01-01T00:00:00Z'))
    assert.ok(!reading.ok)
    assert.match(reading.problem.message, message)
  }
})

test('rejects a rule whose years have passed, if the current time is given', () => {
  const source = { cron: '0 9 * * 1 2020-2025' }
  assert.ok(readRule(source).ok)
  const reading = readRule(source, Date.parse('2026-01-01T00:00:00Z'))
  assert.ok(!reading.ok)
  assert.match(reading.problem.message, /never fires again: all its times in 2025, its last year/)
  assert.match(reading.problem.hint ?? '', /later year/)
})

test('rejects a rule that has fired for the last time, if the current time is given', () => {
  const source = { cron: '30 2 * 3 SUN#2', zone: 'America/New_York', dst: { gap: 'skip' } } as const
  assert.ok(readRule(source).ok, 'until 2006 it did')
  assert.ok(!readRule(source, Date.parse('2026-01-01T00:00:00Z')).ok)
})

test('jitter is constant for a time, within its bounds, and spread', () => {
  const seen = new Set<number>()
  for (let seed = 0; seed < 1_000; seed++) {
    const reading = readRule({ cron: '@daily', jitter: '10s', seed: `job-${seed}` })
    const again = readRule({ cron: '@daily', jitter: 10_000, seed: `job-${seed}` })
    assert.ok(reading.ok && again.ok)
    const late = reading.rule.jitterOf(1_700_000_000_000)
    assert.ok(Number.isInteger(late) && late >= 0 && late <= 10_000)
    assert.equal(again.rule.jitterOf(1_700_000_000_000), late)
    seen.add(Math.floor(late / 1_000))
  }
  assert.equal(seen.size, 10, 'every second has some')
})

const JITTERS: readonly [why: string, source: RuleSource, nominal: string, mostMs: number][] = [
  ['shorter than the interval', { every: '1m', jitter: '10s' }, '2026-01-01T00:00:00Z', 10_000],
  ['as long', { every: '1m', jitter: '1m' }, '2026-01-01T00:00:00Z', 59_999],
  ['longer', { every: '1m', jitter: '7d' }, '2026-01-01T00:00:00Z', 59_999],
  [
    'before a time that is near',
    { cron: '0,1 * * * *', jitter: '5m' },
    '2026-01-01T00:00:00Z',
    59_999,
  ],
  [
    'before one that is not',
    { cron: '0,1 * * * *', jitter: '5m' },
    '2026-01-01T00:01:00Z',
    300_000,
  ],
  [
    'at the end, where none follows',
    { every: '1m', jitter: '5m', end: '2026-01-01T00:00:00Z' },
    '2026-01-01T00:00:00Z',
    300_000,
  ],
  ['once', { at: '2026-01-01T00:00:00Z', jitter: '5m' }, '2026-01-01T00:00:00Z', 300_000],
  [
    'for a rule that counts from the end of the run',
    { every: '1m after finish', jitter: '5m' },
    '2026-01-01T00:00:00Z',
    300_000,
  ],
]
for (const [why, source, nominal, mostMs] of JITTERS) {
  test(`jitter ends before the next time: ${why}`, () => {
    const drawn = Array.from({ length: 1_000 }, (_, index) => {
      const reading = readRule({ ...source, seed: `job-${index}` })
      assert.ok(reading.ok)
      return reading.rule.jitterOf(Date.parse(nominal))
    })
    const longest = Math.max(...drawn)
    assert.ok(longest <= mostMs && longest > 0.98 * mostMs, `${longest} of ${mostMs}`)
    assert.ok(Math.min(...drawn) < 0.02 * mostMs)
  })
}

test('hashed fields differ between jobs, not between readings', () => {
  const texts = new Set<string>()
  for (let seed = 0; seed < 500; seed++) {
    const source = { cron: 'H H(1-4) H * *', seed: `job-${seed}` }
    const [first] = fires(source, '2026-01-01T00:00:00Z', 1)
    assert.equal(fires(source, '2026-01-01T00:00:00Z', 1)[0], first)
    assert.match(first!, /T0[1-4]:/)
    texts.add(first!.slice(8))
  }
  assert.ok(texts.size > 450, `${texts.size} of 500 differ`)
})
