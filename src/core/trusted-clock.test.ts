import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CLOCK_HOLD_MS,
  type ClockEvent,
  type ClockFacts,
  DELETION_WAIT_MS,
  MAX_CLOCK_HOLD_MS,
  canDelete,
  canFire,
  readClock,
  startClock,
  statementTime,
  type TrustedClock,
} from './trusted-clock.ts'

const START = Date.UTC(2026, 0, 1)
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A clock that is read every three seconds, as by heartbeats. */
function open(facts: Partial<ClockFacts> = {}, skewMs = 0) {
  const at = { mono: 1_000, boot: 5_000 as number | null, skewMs }
  const events: ClockEvent[] = []
  let clock: TrustedClock | null = null
  const reading = (tookMs = 0) => ({
    wall: START + at.mono + at.skewMs,
    sentMono: at.mono - tookMs,
    heardMono: at.mono,
    boot: at.boot,
  })
  const take = (verdict: { clock: TrustedClock; event: ClockEvent | null }) => {
    clock = verdict.clock
    if (verdict.event) events.push(verdict.event)
  }
  take(startClock(reading(), { newestAt: null, agreedMs: null, ...facts }))
  const pass = (ms: number, everyMs = 3_000) => {
    for (let left = ms; left > 0; left -= everyMs) {
      at.mono += Math.min(everyMs, left)
      if (at.boot !== null) at.boot += Math.min(everyMs, left)
      take(readClock(clock as TrustedClock, reading()))
    }
  }
  return {
    at,
    events,
    pass,
    clock: () => clock as TrustedClock,
    /** The difference between trusted time and the initial wall clock. */
    offMs: () => (clock as TrustedClock).offset - START,
    mayFire: () => canFire(clock as TrustedClock),
    mayDelete: () => canDelete(clock as TrustedClock),
    /** How far the last event moved the trusted time. */
    moved: () => {
      const last = events.at(-1)
      return last && 'byMs' in last ? last.byMs : 0
    },
    kinds: () => events.map(({ kind }) => kind),
  }
}

test('follows a clock that drifts by less than the tolerance', () => {
  const { at, pass, offMs, kinds, mayFire, clock } = open()
  at.skewMs = 4_000
  pass(3_000)
  assert.deepEqual([offMs(), kinds(), mayFire(), canDelete(clock())], [4_000, [], true, true])
})

test('never follows a jump that is reversed during the hold', () => {
  const { at, pass, offMs, kinds, mayFire, clock } = open()
  at.skewMs = 3_650 * DAY
  pass(8_000)
  assert.deepEqual([offMs(), mayFire()], [0, false])
  at.skewMs = 0
  pass(3_000)
  assert.deepEqual([offMs(), mayFire(), canDelete(clock())], [0, true, true])
  assert.deepEqual(kinds(), ['held', 'returned'])
})

test('accepts a steady clock after the hold; deletion waits for a day of agreement', () => {
  for (const skewMs of [HOUR, -HOUR, 400 * DAY]) {
    const { at, pass, offMs, events, mayFire, clock } = open()
    at.skewMs = skewMs
    pass(CLOCK_HOLD_MS)
    assert.deepEqual([offMs(), mayFire()], [0, false])
    pass(3_000)
    assert.deepEqual([offMs(), mayFire(), canDelete(clock())], [skewMs, true, false])
    const accepted = events.at(-1)
    assert.deepEqual(
      [accepted?.kind, accepted && 'byMs' in accepted && accepted.byMs],
      ['accepted', skewMs],
    )
    pass(DELETION_WAIT_MS - 60_000, 60_000)
    assert.equal(canDelete(clock()), false)
    pass(120_000)
    assert.deepEqual([canDelete(clock()), events.at(-1)?.kind], [true, 'proven'])
  }
})

test('ignores a clock that keeps jumping after a minute, until it is steady', () => {
  const { at, pass, offMs, mayFire, kinds, events } = open()
  for (let i = 1; i <= 25; i += 1) {
    at.skewMs = i * HOUR
    pass(30_000)
    assert.equal(offMs(), 0)
    assert.equal(mayFire(), i * 30_000 - 3_000 >= MAX_CLOCK_HOLD_MS, `${i}`)
  }
  assert.equal(kinds().filter((kind) => kind === 'ignored').length, 1)
  pass(CLOCK_HOLD_MS)
  assert.deepEqual([offMs(), mayFire(), events.at(-1)?.kind], [25 * HOUR, true, 'accepted'])
})

test('ignores a clock that is unsteady from the start after a minute: time continues from the newest time in the store', () => {
  for (const firstMs of [-HOUR, 3_650 * DAY]) {
    const { at, pass, offMs, mayFire, mayDelete, kinds, events } = open(
      { newestAt: START },
      firstMs,
    )
    for (let i = 1; i <= 3; i += 1) {
      pass(18_000)
      at.skewMs = firstMs + i * 2 * DAY
      pass(3_000)
      assert.equal(mayFire(), i === 3, `${firstMs}: ${i}`)
    }
    const ignored = events.find(({ kind }) => kind === 'ignored')
    assert.equal(ignored && 'byMs' in ignored && ignored.byMs, -firstMs - 1_000)
    assert.equal(offMs(), -1_000, 'the store was as far when the node started')
    at.skewMs = -1_000
    pass(3_000)
    assert.deepEqual([kinds().at(-1), mayFire(), mayDelete()], ['returned', true, true])
  }
})

test('returns to an earlier time when a clock that was far ahead at start comes back', () => {
  const { at, pass, offMs, kinds, moved } = open({ newestAt: START }, 3_650 * DAY)
  pass(9_000)
  at.skewMs = 0
  pass(3_000)
  assert.deepEqual([offMs(), kinds(), moved()], [0, ['held', 'returned'], -3_650 * DAY])
})

test('accepts a suspend at once if the time since boot confirms it', () => {
  const { at, pass, offMs, kinds, mayFire, clock } = open()
  at.skewMs = 2 * HOUR
  at.boot = (at.boot as number) + 2 * HOUR
  pass(3_000)
  assert.deepEqual([offMs(), mayFire(), canDelete(clock())], [2 * HOUR, true, true])
  assert.deepEqual(kinds(), ['suspended'])
})

test('without a time since boot, a suspend is held as a jump', () => {
  const { at, pass, kinds } = open()
  at.boot = null
  at.skewMs = 2 * HOUR
  pass(3_000)
  assert.deepEqual(kinds(), ['held'])
})

test('holds a jump that no suspend explains', () => {
  const { at, pass, kinds } = open()
  at.skewMs = DAY
  at.boot = (at.boot as number) + 2 * HOUR
  pass(3_000)
  assert.deepEqual(kinds(), ['held'])
})

test('a slow answer is not a jump', () => {
  const { at, clock } = open()
  at.mono += 20_000
  const reading = {
    wall: START + at.mono - 15_000,
    sentMono: at.mono - 16_000,
    heardMono: at.mono,
    boot: null,
  }
  assert.equal(readClock(clock(), reading).event, null)
})

test('at start, holds a clock behind the newest time in the store until it is corrected', () => {
  const { at, pass, kinds, mayFire, clock } = open({ newestAt: START + HOUR })
  assert.deepEqual([mayFire(), canDelete(clock())], [false, false])
  at.skewMs = HOUR
  pass(3_000)
  assert.deepEqual([mayFire(), kinds()], [true, ['held', 'returned']])
})

test('at start, accepts a clock that stays behind after the hold', () => {
  const { pass, events, mayFire, offMs } = open({ newestAt: START + HOUR })
  pass(CLOCK_HOLD_MS)
  const accepted = events.at(-1)
  assert.deepEqual([mayFire(), offMs()], [true, 0])
  assert.ok(accepted?.kind === 'accepted' && accepted.byMs < 0, 'schedules are rewound')
})

test('at start, an absence of hours causes no hold but delays deletion by as long; a month is held', () => {
  const briefly = open({ newestAt: START - 9 * 60_000 })
  assert.deepEqual([briefly.mayFire(), briefly.mayDelete()], [true, true])
  const day = open({ newestAt: START - 8 * HOUR })
  assert.deepEqual([day.mayFire(), day.mayDelete(), day.kinds()], [true, false, []])
  day.pass(8 * HOUR - 60_000, 60_000)
  assert.equal(day.mayDelete(), false)
  day.pass(120_000, 60_000)
  assert.deepEqual([day.mayDelete(), day.kinds()], [true, ['proven']])
  const month = open({ newestAt: START - 30 * DAY })
  assert.deepEqual([month.mayFire(), canDelete(month.clock())], [false, false])
  month.pass(CLOCK_HOLD_MS)
  assert.deepEqual([month.mayFire(), canDelete(month.clock())], [true, false])
})

test('a doubt and its time of agreement survive a restart', () => {
  const { pass, clock } = open({ newestAt: START, agreedMs: DELETION_WAIT_MS - HOUR })
  assert.equal(canDelete(clock()), false)
  pass(HOUR, 60_000)
  assert.equal(canDelete(clock()), true)
})

test('a doubt at start that passes keeps the time of agreement; an accepted one restarts it', () => {
  const agreedMs = 20 * HOUR
  for (const known of [null, agreedMs]) {
    const back = open({ newestAt: START + HOUR, agreedMs: known })
    back.at.skewMs = HOUR
    back.pass(3_000)
    assert.deepEqual([back.kinds().at(-1), back.clock().agreedMs], ['returned', known])
    const behind = open({ newestAt: START + HOUR, agreedMs: known })
    behind.pass(CLOCK_HOLD_MS)
    assert.deepEqual([behind.kinds().at(-1), behind.clock().agreedMs], ['accepted', 0])
    // A machine that runs for only some hours a week would never reach the end of the count.
    const ahead = open({ newestAt: START - 7 * DAY, agreedMs: known })
    assert.equal(ahead.mayDelete(), false)
    ahead.pass(CLOCK_HOLD_MS)
    assert.deepEqual([ahead.kinds().at(-1), ahead.clock().agreedMs], ['accepted', known ?? 0])
  }
})

test('a statement uses the store’s clock while it is near the expected time, and the expected time otherwise', () => {
  assert.equal(statementTime(START, null), START)
  assert.equal(statementTime(START + 5_000, START), START + 5_000)
  assert.equal(statementTime(START + 5_001, START), START)
  assert.equal(statementTime(START - DAY, START), START)
})
