import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FireCommand, ScheduleRecord } from '../../../store/port.ts'
import { createPreparedFirings } from './prepared-firings.ts'

const AT = 60_000
const scheduleAt = (nominalAt: number | null, more: Partial<ScheduleRecord> = {}) =>
  ({ id: 1, next: { nominalAt, checkAt: AT }, pause: null, ...more }) as ScheduleRecord
const run = { kind: 'run', nominalAt: AT, late: null, run: { id: 1, dueAt: AT } }
const none = { kind: 'none', nominalAt: AT, untilAt: AT }
const commandOf = (settled: readonly object[], nextAt: number | null = 2 * AT) =>
  ({ id: 1, settled, next: { nominalAt: nextAt, checkAt: nextAt } }) as unknown as FireCommand

test('a prepared firing is used at its time, with ids of that time', () => {
  const prepared = createPreparedFirings(() => 77)
  const schedule = scheduleAt(AT)
  assert.equal(prepared.wants(schedule), true)
  prepared.keep(schedule, commandOf([run]))
  assert.equal(prepared.wants(schedule), false)
  const expected = commandOf([{ ...run, run: { ...run.run, id: 77 } }])
  assert.deepEqual(prepared.take(schedule, AT + 3), expected)
})

const STALE: [why: string, command: FireCommand | null, now: number][] = [
  ['its instant has not come', commandOf([run]), AT - 1],
  ['it is late', commandOf([run]), AT + 1_001],
  ['another of its times has come', commandOf([run], AT + 500), AT + 500],
  ['it would become no run', commandOf([none]), AT],
  ['it could not be thought out', null, AT],
]
for (const [why, command, now] of STALE) {
  test(`it is prepared again when ${why}`, () => {
    const prepared = createPreparedFirings(() => 77)
    const schedule = scheduleAt(AT)
    prepared.keep(schedule, command)
    assert.equal(prepared.take(schedule, now), undefined)
  })
}

test('a schedule that was read again, is paused or follows a run is not prepared', () => {
  const prepared = createPreparedFirings(() => 77)
  prepared.keep(scheduleAt(AT), commandOf([run]))
  assert.equal(prepared.take(scheduleAt(AT), AT), undefined)
  assert.equal(prepared.wants(scheduleAt(null)), false)
  const pause = { at: 1, until: null, reason: null, byJob: false, resumedAt: null }
  assert.equal(prepared.wants(scheduleAt(AT, { pause })), false)
})
