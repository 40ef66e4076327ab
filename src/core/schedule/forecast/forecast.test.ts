import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { readRule, type RuleSource } from '../index.ts'
import { forecast, type Forecast, type ForecastSchedule } from './forecast.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const MONDAY = Date.UTC(2026, 10, 16)

function forecastOf(schedules: readonly ForecastSchedule[], from = MONDAY, days = 1): Forecast {
  const work = forecast(schedules, from, from + days * DAY)
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

const forecastSchedule = (
  rule: RuleSource,
  more: Partial<ForecastSchedule> = {},
): ForecastSchedule => ({
  rule,
  from: MONDAY,
  durationMs: null,
  ...more,
})
const busyOf = ({ hours }: Forecast, count: number) => [...hours.busy.slice(0, count)]

describe('fires', () => {
  const TABLE: [why: string, given: ForecastSchedule, days: number, fires: number][] = [
    ['a day of hours', forecastSchedule({ cron: '@hourly' }), 1, 24],
    ['a year of seconds is counted', forecastSchedule({ cron: '* * * * * *' }), 365, 31_536_000],
    [
      'an interval, by its own start',
      forecastSchedule({ every: '7h', start: '2026-11-16T01:00:00Z' }),
      1,
      4,
    ],
    ['one instant', forecastSchedule({ at: '2026-11-16T09:00:00Z' }), 1, 1],
    ['a past instant', forecastSchedule({ at: '2026-11-15T09:00:00Z' }), 1, 0],
    ['an end within', forecastSchedule({ cron: '@hourly', end: '2026-11-16T02:00:00Z' }), 1, 3],
    [
      'paused for half a day',
      forecastSchedule({ cron: '@hourly' }, { from: MONDAY + DAY / 2 }),
      1,
      12,
    ],
    ['paused without an end', forecastSchedule({ cron: '@hourly' }, { from: null }), 1, 0],
    [
      'paused for longer than that',
      forecastSchedule({ cron: '@hourly' }, { from: MONDAY + DAY }),
      1,
      0,
    ],
    ['after finish, runs of no time', forecastSchedule({ every: '1h after finish' }), 1, 23],
    [
      'after finish, runs of an hour',
      forecastSchedule({ every: '1h after finish' }, { durationMs: HOUR }),
      1,
      12,
    ],
    [
      'one after the other, runs of no time',
      forecastSchedule({ every: '0s after finish' }),
      1,
      86_400,
    ],
    ['a rule that cannot be read', forecastSchedule({ cron: 'whenever' }), 1, 0],
    [
      'the night that has 23 hours, by clocks that have them',
      forecastSchedule(
        { cron: '0 * * * *', zone: 'Europe/Athens' },
        { from: Date.UTC(2027, 2, 27, 22) },
      ),
      1,
      24,
    ],
  ]
  for (const [why, given, days, fires] of TABLE) {
    test(`${why}: ${fires}`, () => {
      const from = Math.max(MONDAY, given.rule.zone ? (given.from ?? MONDAY) : MONDAY)
      assert.deepEqual([...forecastOf([given], from, days).fires], [fires])
    })
  }
})

test('spreads load over the following hours by duration', () => {
  const nightly = forecastSchedule({ cron: '0 1 * * *' }, { durationMs: 2.5 * HOUR })
  assert.deepEqual(busyOf(forecastOf([nightly]), 5), [0, 1, 1, 0.5, 0])
  const often = forecastSchedule({ cron: '*/10 * * * *' }, { durationMs: 60_000 })
  assert.deepEqual(
    busyOf(forecastOf([often, nightly]), 3).map((busy) => Math.round(busy * 10) / 10),
    [0.1, 1.1, 1.1],
  )
  assert.deepEqual(busyOf(forecastOf([forecastSchedule({ cron: '0 1 * * *' })]), 3), [0, 0, 0])
  const long = forecastSchedule({ cron: '0 22 * * *' }, { durationMs: 30 * DAY })
  assert.deepEqual([...forecastOf([long]).hours.busy.slice(-3)], [0, 1, 1])
})

describe('collisions', () => {
  const summarise = ({ collisions }: Forecast) =>
    collisions.map(({ at, times, schedules }) => {
      return `${new Date(at).toISOString().slice(5, 19)} x${times}: ${schedules.join()}`
    })

  test('are listed once, largest first, with their times and schedules', () => {
    const schedules = [
      forecastSchedule({ cron: '0 9 * * *' }),
      forecastSchedule({ every: 'daily at 9:00' }),
      forecastSchedule({ cron: '30 4 * * *' }),
      forecastSchedule({ cron: '0,30 9 * * *', zone: 'UTC' }),
      forecastSchedule({ cron: '30 4 * * 2' }),
    ]
    assert.deepEqual(summarise(forecastOf(schedules, MONDAY, 7)), [
      '11-16T09:00:00 x7: 0,1,3',
      '11-17T04:30:00 x1: 2,4',
    ])
  })

  test('need the same second: the same minute is not enough', () => {
    const schedules = [
      forecastSchedule({ cron: '5 0 9 * * *' }),
      forecastSchedule({ cron: '0 9 * * *' }),
    ]
    assert.deepEqual(summarise(forecastOf(schedules)), [])
    const third = forecastSchedule({ cron: '5,9 0 9 * * *' })
    assert.deepEqual(summarise(forecastOf([...schedules, third])), ['11-16T09:00:05 x1: 0,2'])
  })

  test('are avoided by jitter', () => {
    const schedules = [
      forecastSchedule({ cron: '0 9 * * *', jitter: '5m' }),
      forecastSchedule({ cron: '0 9 * * *' }),
    ]
    assert.deepEqual(summarise(forecastOf(schedules)), [])
  })

  test('are limited in number even where everything collides', () => {
    const minutes = [
      forecastSchedule({ cron: '* * * * *' }),
      forecastSchedule({ cron: '*/1 * * * *' }),
    ]
    assert.deepEqual(summarise(forecastOf(minutes, MONDAY, 365)), ['11-16T00:00:00 x525600: 0,1'])
    const primes = [2, 3, 5, 7, 11, 13, 17, 19, 23].map((n) =>
      forecastSchedule({ every: `${n * 60}s` }),
    )
    const found = forecastOf([...primes, ...minutes], MONDAY, 300).collisions
    assert.equal(found.length, 10)
    assert.ok(found.every(({ schedules }) => schedules.length >= 7))
  })
})

test('lists nights with clock changes and the affected schedules', () => {
  const athens = { zone: 'Europe/Athens' }
  const schedules = [
    forecastSchedule({ cron: '30 3 * * *', ...athens }),
    forecastSchedule({ cron: '30 3 * * *', ...athens, dst: { gap: 'skip', repeat: 'both' } }),
    forecastSchedule({ cron: '0 * * * *', ...athens }),
    forecastSchedule({ cron: '30 3 * * *', zone: 'Asia/Tokyo' }),
  ]
  const nights = forecastOf(schedules, MONDAY, 365).clockNights
  assert.deepEqual(
    nights.map(({ at, before: _, after: __, ...rest }) => [new Date(at).toISOString(), rest]),
    [
      [
        '2027-03-28T01:00:00.000Z',
        { zone: 'Europe/Athens', schedules: 3, moved: 1, leftOut: 1, once: 0, twice: 0 },
      ],
      [
        '2027-10-31T01:00:00.000Z',
        { zone: 'Europe/Athens', schedules: 3, moved: 0, leftOut: 0, once: 1, twice: 1 },
      ],
    ],
  )
})

test('agrees with a walk along each schedule', () => {
  const rules = fc.constantFrom<RuleSource>(
    { cron: '*/7 * * * *' },
    { cron: '0 9 * * 1-5', zone: 'America/New_York' },
    { cron: '15,30 0 */3 * * *' },
    { every: '40m' },
    { every: '25s', start: '2026-03-07T01:00:07Z' },
    { cron: '30 1,2 * * *', zone: 'America/New_York' },
    { cron: '0 2 * * *', zone: 'Europe/London' },
  )
  const start = fc.integer({ min: Date.UTC(2026, 2, 6), max: Date.UTC(2026, 2, 9) })
  fc.assert(
    fc.property(fc.array(rules, { maxLength: 6 }), start, (sources, from) => {
      const until = from + DAY
      const fires: number[] = []
      const byHour = new Map<number, number>()
      const together = new Map<number, number>()
      for (const source of sources) {
        const reading = readRule(source)
        assert.ok(reading.ok)
        let count = 0
        for (let at = reading.rule.next(from - 1); at !== null && at < until;) {
          count += 1
          const hour = Math.floor(at / HOUR)
          byHour.set(hour, (byHour.get(hour) ?? 0) + 1)
          together.set(at, (together.get(at) ?? 0) + 1)
          at = reading.rule.next(at)
        }
        fires.push(count)
      }
      const seen = forecastOf(
        sources.map((rule) => forecastSchedule(rule, { from })),
        from,
      )
      assert.deepEqual([...seen.fires], fires)
      const { firstHour, fires: hours } = seen.hours
      hours.forEach((count, index) => assert.equal(count, byHour.get(firstHour + index) ?? 0))
      const most = Math.max(1, ...together.values())
      assert.equal(seen.collisions[0]?.schedules.length ?? 1, most)
      for (const { at, schedules } of seen.collisions) {
        assert.equal(together.get(at), schedules.length)
      }
    }),
    { numRuns: 100 },
  )
})
