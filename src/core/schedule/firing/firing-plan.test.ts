import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { readRule, type RuleSource } from '../index.ts'
import { DEFAULT_MISSED, MISSED_GRACE_MS, type MissedPolicy } from './missed.ts'
import {
  type FireTimes,
  nextFrom,
  type FiringPlan,
  planTimes,
  type PlanInput,
} from './firing-plan.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

function every(ms: number, { jitterMs = 0, endAt = Infinity } = {}): FireTimes {
  return {
    afterFinish: null,
    next(after) {
      const at = (Math.floor(after / ms) + 1) * ms
      return at <= endAt ? at : null
    },
    jitterOf: (nominalAt) => (jitterMs === 0 ? 0 : (nominalAt / ms) % jitterMs),
  }
}
const afterFinish = (ms: number): FireTimes => ({
  afterFinish: ms,
  next: (after) => after + ms,
  jitterOf: () => 0,
})

const missed = (given: Partial<MissedPolicy>): MissedPolicy => ({ ...DEFAULT_MISSED, ...given })

function plan(given: Partial<PlanInput>): FiringPlan {
  return planTimes({
    times: every(HOUR),
    nominalAt: 10 * HOUR,
    now: 10 * HOUR,
    missed: DEFAULT_MISSED,
    skipNominalAt: null,
    pause: null,
    maxRuns: 100,
    ...given,
  })
}

/** `10 fired`, `9-11 missed too_old`: in units of an hour by default. */
function summarise({ planned, next }: FiringPlan, unit = HOUR): string {
  const lines = planned.map((time) => {
    if (time.kind === 'run') return `${time.nominalAt / unit}${time.late ? ` ${time.late}` : ''}`
    const { nominalAt, untilAt, outcome, reason, count } = time
    const range = nominalAt === untilAt ? nominalAt / unit : `${nominalAt / unit}x${count}`
    return `${range} ${outcome} ${reason}`
  })
  const { nominalAt, checkAt } = next
  if (nominalAt === null) return [...lines, 'end'].join(', ')
  const wait = (checkAt ?? 0) - nominalAt
  return [...lines, `then ${nominalAt / unit}${wait === 0 ? '' : ` ${wait} ms after`}`].join(', ')
}

const all = missed({ kind: 'all' })
const TABLE: [why: string, given: Partial<PlanInput>, expected: string][] = [
  ['in time', {}, '10, then 11'],
  ['a little late is in time', { now: 10 * HOUR + 4_999 }, '10, then 11'],
  ['later than that is late', { now: 10 * HOUR + 5_001 }, '10 late, then 11'],
  ['not yet', { now: 10 * HOUR - 1 }, 'then 10'],
  [
    'late is not missed',
    { now: 10 * HOUR + MISSED_GRACE_MS, missed: missed({ kind: 'skip' }) },
    '10 late, then 11',
  ],
  [
    'missed without a run',
    { now: 10 * HOUR + MISSED_GRACE_MS + 1, missed: missed({ kind: 'skip' }) },
    '10 missed policy, then 11',
  ],
  ['a run for the latest missed time', { now: 10.5 * HOUR }, '10 made_up, then 11'],
  [
    'only the latest',
    { now: 12.5 * HOUR },
    '10 missed superseded, 11 missed superseded, 12 made_up, then 13',
  ],
  [
    'one that is in time is the latest',
    { now: 12 * HOUR },
    '10 missed superseded, 11 missed superseded, 12, then 13',
  ],
  [
    'the latest is too old',
    {
      times: every(DAY),
      nominalAt: 10 * DAY,
      now: 11 * DAY - 1,
      missed: missed({ maxAgeMs: HOUR }),
    },
    '240 missed too_old, then 264',
  ],
  ['all of them', { now: 12.5 * HOUR, missed: all }, '10 made_up, 11 made_up, 12 made_up, then 13'],
  [
    'all that are young enough',
    { now: 12.5 * HOUR, missed: { ...all, maxAgeMs: 2 * HOUR } },
    '10 missed too_old, 11 made_up, 12 made_up, then 13',
  ],
  [
    'all, but not too many',
    { now: 12.5 * HOUR, missed: { ...all, maxCount: 1 } },
    '10 missed too_many, 11 missed too_many, 12 made_up, then 13',
  ],
  [
    'all, one at a time',
    { now: 12.5 * HOUR, missed: { ...all, everyMs: 7 } },
    `10 made_up, then 11 ${1.5 * HOUR + 7} ms after`,
  ],
  [
    'no more than a plan may hold; the rest at once',
    { now: 12.5 * HOUR, missed: all, maxRuns: 2 },
    `10 made_up, 11 made_up, then 12 ${0.5 * HOUR} ms after`,
  ],
  ['skipped by request', { skipNominalAt: 10 * HOUR }, '10 skipped asked, then 11'],
  [
    'skipping one skips no other',
    { skipNominalAt: 10 * HOUR, now: 11 * HOUR, missed: all },
    '10 skipped asked, 11, then 12',
  ],
  [
    'all of a pause is skipped',
    { now: 13.5 * HOUR, pause: { untilAt: 12 * HOUR + 1, reason: 'paused' } },
    '10x3 skipped paused, 13 made_up, then 14',
  ],
  [
    'a pause that ended before anything came due',
    { now: 9 * HOUR, pause: { untilAt: 9 * HOUR, reason: 'paused' } },
    'then 10',
  ],
  ['not a time of the rule any more', { nominalAt: 10.5 * HOUR, now: 10.5 * HOUR }, 'then 11'],
  ['the last one', { times: every(HOUR, { endAt: 10 * HOUR }) }, '10, end'],
  [
    'it ended during a pause',
    {
      times: every(HOUR, { endAt: 10 * HOUR }),
      now: 12 * HOUR,
      pause: { untilAt: 12 * HOUR, reason: 'job_paused' },
    },
    '10x1 skipped job_paused, end',
  ],
  ['the end of its run determines the next time', { times: afterFinish(HOUR) }, '10, end'],
  [
    'one that follows a run and was missed is counted from now',
    { times: afterFinish(HOUR), now: 40 * HOUR },
    '10 missed too_old, then 41',
  ],
]
describe('planTimes', () => {
  for (const [why, given, expected] of TABLE) {
    test(`${why}: ${expected}`, () => assert.equal(summarise(plan(given)), expected))
  }

  test('waits for the jitter of a time, not of those before it', () => {
    const times = every(MINUTE, { jitterMs: 30_000 })
    const nominalAt = 100 * MINUTE
    assert.equal(
      summarise(plan({ times, nominalAt, now: nominalAt + 99 }), MINUTE),
      'then 100 100 ms after',
    )
    assert.equal(
      summarise(plan({ times, nominalAt, now: nominalAt + 100 }), MINUTE),
      '100, then 101 101 ms after',
    )
  })

  test('reports a year of missed seconds as ranges and the last hundred times', () => {
    const now = 400 * DAY
    const { planned, next } = plan({ times: every(1_000), nominalAt: DAY, now })
    const ranges = planned.filter((one) => one.kind === 'none' && one.untilAt > one.nominalAt)
    assert.deepEqual(
      ranges.map((one) => one.kind === 'none' && [one.reason, one.count]),
      [
        ['too_old', null],
        ['superseded', null],
      ],
    )
    assert.equal(planned.length - ranges.length, 101)
    assert.deepEqual(next, { nominalAt: now + 1_000, checkAt: now + 1_000 })
  })
})

/**
 * Makes a plan whenever the previous plan asked for it, without absences; collects the outcomes and the check times.
 */
function simulate(source: RuleSource, since: number, checks: number) {
  const reading = readRule(source)
  assert.ok(reading.ok, JSON.stringify(reading))
  const times = reading.rule
  const fired: { nominalAt: number; at: number }[] = []
  const others: string[] = []
  let next = nextFrom(times, times.next(since))
  for (let check = 0; check < checks && next.nominalAt !== null; check += 1) {
    const now = next.checkAt as number
    const made = plan({ times, nominalAt: next.nominalAt, now })
    for (const time of made.planned) {
      if (time.kind === 'run') fired.push({ nominalAt: time.nominalAt, at: now })
      if (time.kind !== 'run' || time.late) others.push(summarise({ ...made, planned: [time] }, 1))
    }
    ;({ next } = made)
  }
  return { times, fired, others }
}

describe('with a jitter longer than the interval', () => {
  const since = Date.UTC(2026, 0, 1) - 1

  test('no time is late or missed while a node is running', () => {
    const { fired, others } = simulate({ every: '1m', jitter: '10m', seed: 'a' }, since, 3_000)
    assert.deepEqual(others, [])
    assert.deepEqual(
      fired.map(({ nominalAt }) => nominalAt),
      Array.from({ length: 3_000 }, (_, index) => since + 1 + index * MINUTE),
    )
  })

  test('a due time is not taken for one of an absence', () => {
    const { fired, others } = simulate({ every: '1s', jitter: '7d', seed: 'b' }, since, 500)
    assert.deepEqual([fired.length, others], [500, []])
  })

  test('times fire one by one, in order and within their jitter', () => {
    const rules = fc.record({
      rule: fc.oneof(
        fc.integer({ min: 1, max: 9_000 }).map((seconds) => ({ every: `${seconds}s` })),
        fc.constantFrom({ cron: '0,1,30 * * * *' }, { cron: '0 2 * * *', zone: 'Europe/Athens' }),
      ),
      jitter: fc.oneof(fc.integer({ min: 0, max: 7 * DAY }), fc.integer({ min: 0, max: 9_000 })),
      seed: fc.string({ maxLength: 8 }),
    })
    fc.assert(
      fc.property(rules, ({ rule, jitter, seed }) => {
        const { times, fired, others } = simulate({ ...rule, jitter, seed }, since, 60)
        assert.deepEqual([fired.length, others], [60, []])
        for (const [index, { nominalAt, at }] of fired.entries()) {
          assert.ok(at >= nominalAt && at <= nominalAt + jitter)
          if (index === 0) continue
          const before = fired[index - 1]!
          assert.ok(before.at < at, `${before.at} and ${at}`)
          assert.equal(nominalAt, times.next(before.nominalAt))
        }
      }),
      { numRuns: 200 },
    )
  })
})

/** Every time of a plan, one by one, whether it is reported as a range or not. */
function brute(input: PlanInput): { nominalAt: number; isRun: boolean }[] {
  const { times, now, missed: policy, pause, skipNominalAt } = input
  const due: number[] = []
  for (let at: number | null = input.nominalAt; at !== null && at <= now; at = times.next(at)) {
    if (at + times.jitterOf(at) > now && !(pause && at <= pause.untilAt)) break
    due.push(at)
  }
  const free = due.filter((at) => !pause || at > pause.untilAt)
  const isFree = new Set(free)
  const age = (at: number) => now - at - times.jitterOf(at)
  const old = free.filter((at) => age(at) > MISSED_GRACE_MS)
  const young = old.filter((at) => age(at) <= policy.maxAgeMs)
  const most = { skip: 0, latest: old.length < free.length ? 0 : 1, all: policy.maxCount }
  const kept = new Set(young.slice(Math.max(0, young.length - most[policy.kind])))
  return due.map((nominalAt) => {
    const isWanted =
      isFree.has(nominalAt) && (age(nominalAt) <= MISSED_GRACE_MS || kept.has(nominalAt))
    return { nominalAt, isRun: isWanted && nominalAt !== skipNominalAt }
  })
}

test('consecutive plans decide every time exactly once', () => {
  const policies = fc.record({
    kind: fc.constantFrom('skip', 'latest', 'all'),
    maxAgeMs: fc.integer({ min: 1, max: 100 * MINUTE }),
    maxCount: fc.integer({ min: 1, max: 5 }),
    everyMs: fc.constant(0),
  })
  const inputs = fc.record({
    period: fc.constantFrom(1_000, 7_000, MINUTE, 10 * MINUTE),
    jitterMs: fc.constantFrom(0, 0, 900),
    lateMs: fc.integer({ min: 0, max: 200 * MINUTE }),
    pausedMs: fc.option(fc.integer({ min: 0, max: 200 * MINUTE })),
    skipsFirst: fc.boolean(),
    policy: policies,
    maxRuns: fc.integer({ min: 1, max: 4 }),
  })
  fc.assert(
    fc.property(inputs, ({ period, jitterMs, lateMs, pausedMs, skipsFirst, policy, maxRuns }) => {
      const times = every(period, { jitterMs })
      const nominalAt = 4_200 * MINUTE
      const now = nominalAt + lateMs
      const untilAt = Math.min(now, nominalAt + (pausedMs ?? 0))
      const pause = pausedMs === null ? null : ({ untilAt, reason: 'paused' } as const)
      const skipNominalAt = skipsFirst ? nominalAt : null
      const input = { times, nominalAt, now, missed: policy, pause, skipNominalAt, maxRuns }
      const fates = new Map<number, boolean>()
      let next: FiringPlan['next'] = { nominalAt, checkAt: now }
      let rounds = 0
      // The first plan has already handled the pause.
      for (let left: PlanInput = input; next.nominalAt !== null && (next.checkAt ?? 0) <= now;) {
        const made = planTimes({ ...left, nominalAt: next.nominalAt })
        for (const time of made.planned) {
          const until = time.kind === 'run' ? time.nominalAt : time.untilAt
          let at: number | null = time.nominalAt
          for (; at !== null && at <= until; at = times.next(at)) {
            assert.ok(!fates.has(at), `two fates for ${at}`)
            fates.set(at, time.kind === 'run')
          }
        }
        ;({ next } = made)
        left = { ...left, pause: null }
        rounds += 1
        assert.ok(rounds < 1_000, 'it never ends')
      }
      const expected = brute(input)
      assert.deepEqual(
        [...fates.keys()].toSorted((a, b) => a - b),
        expected.map((one) => one.nominalAt),
      )
      for (const { nominalAt: at, isRun } of expected) assert.equal(fates.get(at), isRun, `${at}`)
    }),
    { numRuns: 400 },
  )
})
