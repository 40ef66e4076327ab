import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { localTime, readRule, type Rule, type RuleSource } from './index.ts'
import { countAt, createMinuteCounts } from './rule/minute-counts.ts'
import { REPEATS, GAPS } from './rule/rule.ts'

const RUNS = 400

const item = (low: number, high: number) =>
  fc.oneof(
    fc.constant('*'),
    fc.constant('H'),
    fc.integer({ min: low, max: high }).map(String),
    fc.integer({ min: 1, max: Math.min(12, high - low) }).map((step) => `*/${step}`),
    fc
      .tuple(fc.integer({ min: low, max: high }), fc.integer({ min: low, max: high }))
      .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
  )
const field = (low: number, high: number) =>
  fc.array(item(low, high), { minLength: 1, maxLength: 3 }).map((items) => items.join(','))
const dates = fc.oneof(
  { weight: 4, arbitrary: field(1, 31) },
  fc.constantFrom('?', 'L', 'LW', 'L-2', 'L-3W', '15W', '1W,L', '*/2,L'),
)
const weekdays = fc.oneof(
  { weight: 4, arbitrary: field(0, 6) },
  fc.constantFrom(
    '?',
    'MON-FRI',
    '5L',
    '2#2',
    'SAT-SUN',
    '1,5L',
    '*/2',
    '7',
    '7-7',
    '7/1',
    '7-2',
    '1-7/2',
    'MON-FRI#1',
    'FRI-SUNL',
    'saturday',
  ),
)
const cron = fc
  .tuple(fc.option(field(0, 59)), field(0, 59), field(0, 23), dates, field(1, 12), weekdays)
  .map((fields) => fields.filter((one) => one !== null).join(' '))

const years = fc.constantFrom(
  '2026',
  '2025-2035/3',
  '1999,2027,2050',
  '2090/2',
  '1970-2099',
  '2024',
)
/** Five or six fields: both may have a year after them. */
const yearly = fc.tuple(cron, years).map(([text, year]) => `${text} ${year}`)

const ruleContext = fc.record({
  zone: fc.constantFrom(
    'UTC',
    'America/New_York',
    'Europe/Dublin',
    'Australia/Lord_Howe',
    'America/Santiago',
    'Pacific/Apia',
    'Africa/Casablanca',
    'Asia/Kathmandu',
  ),
  dst: fc.record({ gap: fc.constantFrom(...GAPS), repeat: fc.constantFrom(...REPEATS) }),
  seed: fc.string({ maxLength: 8 }),
})
const instant = fc.integer({ min: 0, max: Date.UTC(2060, 0, 1) })

/** A rule of any kind that fires; rules that never fire are tested elsewhere. */
const source: fc.Arbitrary<RuleSource> = fc
  .tuple(
    fc.oneof(
      { weight: 6, arbitrary: cron.map((text): RuleSource => ({ cron: text })) },
      { weight: 2, arbitrary: yearly.map((text): RuleSource => ({ cron: text })) },
      fc.integer({ min: 1_000, max: 10 ** 9 }).map((ms): RuleSource => ({ every: `${ms}ms` })),
    ),
    ruleContext,
  )
  .map(([rule, rest]) => ({ ...rest, ...rule }))
  .filter((rule) => readRule(rule).ok)

function read(rule: RuleSource): Rule {
  const reading = readRule(rule)
  assert.ok(reading.ok, JSON.stringify([rule, reading]))
  return reading.rule
}

function fires(rule: Rule, from: number, count = 20): number[] {
  const found: number[] = []
  for (let at = rule.next(from); at !== null && found.length < count; at = rule.next(at))
    found.push(at)
  return found
}

test('fires are strictly increasing, at whole seconds of the supported range', () => {
  fc.assert(
    fc.property(source, instant, (rule, after) => {
      let last = after
      for (const at of fires(read(rule), after)) {
        assert.ok(at > last && (rule.cron === undefined || at % 1_000 === 0))
        last = at
      }
    }),
    { numRuns: RUNS },
  )
})

test('the same question has the same answer, and there is no fire in between', () => {
  fc.assert(
    fc.property(
      source,
      instant,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (rule, after, part) => {
        const compiled = read(rule)
        const next = compiled.next(after)
        assert.equal(compiled.next(after), next)
        if (next === null) return
        const between = Math.min(next - 1, Math.floor(after + (next - after) * part))
        assert.equal(compiled.next(between), next)
      },
    ),
    { numRuns: RUNS },
  )
})

test('counts per minute agree with a walk along the rule', () => {
  const hour = 3_600_000
  // Some of these zones change their clocks, or skip a date, within a few hours of these instants.
  const changes = fc.constantFrom(
    Date.UTC(2026, 2, 8, 7),
    Date.UTC(2026, 10, 1, 6),
    Date.UTC(2026, 3, 4, 15),
    Date.UTC(2026, 2, 29, 1),
    Date.UTC(2026, 8, 6, 4),
    Date.UTC(2011, 11, 30, 10),
  )
  const start = fc.oneof(
    fc.integer({ min: Date.UTC(1973, 0, 1), max: Date.UTC(2060, 0, 1) }),
    fc.tuple(changes, fc.integer({ min: -9 * hour, max: 0 })).map(([at, back]) => at + back),
  )
  const ranges = fc.record({ from: start, lengthMs: fc.integer({ min: 0, max: 12 * hour }) })
  fc.assert(
    fc.property(source, ranges, (rule, { from, lengthMs }) => {
      const compiled = read(rule)
      const until = from + lengthMs
      const walked = createMinuteCounts(from, until)
      for (let at = compiled.next(from - 1); at !== null && at < until; at = compiled.next(at)) {
        countAt(walked, at)
      }
      const counted = createMinuteCounts(from, until)
      compiled.countInto(counted, from, until)
      assert.deepEqual(counted, walked)
    }),
    { numRuns: RUNS },
  )
})

test('a rule with years fires as without them, within those years in local time', () => {
  const named = { '2026': [2026], '2027-2029': [2027, 2028, 2029], '2026/40': [2026, 2066] }
  const options = fc.constantFrom(...Object.entries(named))
  fc.assert(
    fc.property(cron, options, ruleContext, instant, (text, [field, wanted], rest, after) => {
      const bare = readRule({ cron: text, ...rest })
      const rule = readRule({ cron: `${text} ${field}`, ...rest })
      if (!bare.ok || !rule.ok) return
      const yearOf = (at: number) => Number(localTime(at, rest.zone).slice(0, 4))
      let at = rule.rule.next(after)
      let count = 0
      // A fire moved out of a gap may fall into the next year.
      for (; at !== null && count < 20; count++) {
        assert.ok(wanted.includes(yearOf(at)) || wanted.includes(yearOf(at - 1)))
        const next: number | null = rule.rule.next(at)
        const plain: number | null = bare.rule.next(at)
        if (plain !== null && wanted.includes(yearOf(plain))) assert.equal(next, plain)
        else assert.ok(next === null || yearOf(next) > yearOf(at))
        at = next
      }
    }),
    { numRuns: RUNS },
  )
})

test('a later question never has an earlier answer', () => {
  fc.assert(
    fc.property(source, instant, instant, (rule, a, b) => {
      const compiled = read(rule)
      const [first, second] = [Math.min(a, b), Math.max(a, b)].map((at) => compiled.next(at))
      assert.ok((first ?? Infinity) <= (second ?? Infinity))
    }),
    { numRuns: RUNS },
  )
})

test('the text of a rule reads as the same rule and is written the same', () => {
  fc.assert(
    fc.property(source, instant, (rule, after) => {
      const first = read(rule)
      const again = read({ ...rule, [rule.cron === undefined ? 'every' : 'cron']: first.text })
      assert.equal(again.text, first.text)
      assert.deepEqual(fires(again, after), fires(first, after))
    }),
    { numRuns: RUNS },
  )
})

test('a description that can be read describes the same rule', () => {
  let readable = 0
  fc.assert(
    fc.property(source, instant, (rule, after) => {
      const first = read(rule)
      const { cron: _, ...rest } = rule
      const again = readRule({ ...rest, every: first.describe() })
      if (!again.ok) return
      readable++
      assert.equal(again.rule.describe(), first.describe())
      assert.deepEqual(fires(again.rule, after), fires(first, after), first.describe())
    }),
    { numRuns: RUNS },
  )
  assert.ok(readable > RUNS / 10, `${readable} of ${RUNS} could be read`)
})

test('a description with years can be read wherever the one without years can', () => {
  fc.assert(
    fc.property(cron, years, ruleContext, instant, (text, year, rest, after) => {
      const rule = readRule({ cron: `${text} ${year}`, ...rest })
      const bare = readRule({ cron: text, ...rest })
      if (!rule.ok || !bare.ok || !readRule({ every: bare.rule.describe(), ...rest }).ok) return
      const again = readRule({ every: rule.rule.describe(), ...rest })
      assert.ok(again.ok, rule.rule.describe())
      assert.deepEqual(fires(again.rule, after), fires(rule.rule, after), rule.rule.describe())
    }),
    { numRuns: RUNS },
  )
})

test('any text is accepted or rejected with an error', () => {
  const pieces = fc.array(
    fc.constantFrom(
      '*',
      '/',
      '-',
      ',',
      '#',
      '?',
      'L',
      'W',
      'H',
      '(',
      ')',
      '0',
      '5',
      '31',
      '99',
      ' ',
      'MON',
      '@every ',
      'every ',
      'monday ',
      'at ',
      '09:00',
      'the ',
      'last ',
      'of ',
      'month ',
      'and ',
      'weekday ',
      '5m',
      'between ',
      'to ',
      'minutes ',
      'hours ',
      'second ',
      'nearest ',
      'days ',
      'before ',
      '\0',
      '٣',
    ),
    { maxLength: 14 },
  )
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    pieces.map((list) => list.join('')),
  )
  fc.assert(
    fc.property(text, fc.constantFrom('cron', 'every', 'at', 'zone'), (value, name) => {
      const reading = readRule({ ...(name === 'zone' ? { cron: '@daily' } : {}), [name]: value })
      if (!reading.ok) assert.ok(reading.problem.message.length < 250)
      else assert.equal(typeof reading.rule.describe(), 'string')
    }),
    { numRuns: 5_000 },
  )
})
