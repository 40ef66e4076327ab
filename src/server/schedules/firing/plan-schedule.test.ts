import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ScheduleRecord } from '../../../store/port.ts'
import { planSchedule } from './plan-schedule.ts'
import type { ParsedRule } from '../rule-cache.ts'

const START = 1_767_225_600_000

/** Plans a paused schedule that follows the end of its runs; its next time is the start. */
function paused(untilAt: number) {
  const times = {
    next: (at: number) => at + 1,
    isBounded: false,
    jitterOf: () => 0,
    afterFinish: 0,
  }
  const understood = { ok: true, spec: { missed: { kind: 'skip' } }, times } as unknown
  const schedule = {
    openRuns: [],
    lastNominalAt: START - 1_000,
    skipNominalAt: null,
    next: { nominalAt: START, checkAt: untilAt },
    pause: { at: START - 1_000, until: untilAt, resumedAt: null, byJob: false },
  } as unknown
  return (now: number) =>
    planSchedule(
      schedule as ScheduleRecord,
      understood as Extract<ParsedRule, { ok: true }>,
      now,
      () => undefined,
    )
}

test('a pause that is over by the clock of the store only is skipped up to its end', () => {
  const untilAt = START + 10_000
  const { planned, next } = paused(untilAt)(untilAt - 2)
  assert.deepEqual(
    planned.map((one) => [one.kind, one.nominalAt, 'untilAt' in one && one.untilAt]),
    [['none', START, untilAt]],
  )
  assert.equal(next.nominalAt, untilAt + 1)
})

test('an end of a pause far ahead was written by a clock that has been set back: it ends now', () => {
  const { planned } = paused(START + 3_600_000)(START + 10)
  assert.deepEqual(
    planned.map((one) => 'untilAt' in one && one.untilAt),
    [START + 10],
  )
})
