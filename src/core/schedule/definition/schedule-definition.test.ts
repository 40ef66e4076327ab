import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PunctualError } from '../../errors.ts'
import { decodeSpec, encodeSpec } from '../firing/schedule-spec.ts'
import { readSchedule, type ScheduleDefinition, writeSchedule } from './schedule-definition.ts'
import type { RuleSource } from '../index.ts'
import { scheduleWords } from './describe-schedule.ts'

const HERE = { zone: 'Europe/Athens', seed: 'p/j/s' }
const specOf = (definition: ScheduleDefinition) => encodeSpec(readSchedule(definition, HERE))

const definitions: ScheduleDefinition[] = [
  { cron: '0 9 * * *' },
  { every: '15m', overlap: 'queue' },
  { every: '5m after finish', overlap: 'allow', missed: 'skip' },
  { every: '0s after finish' },
  { at: '2027-01-01T09:00', zone: 'America/New_York', missed: { policy: 'latest', max_age: '3d' } },
  { every: 'weekdays at 09:05', missed: 'all', jitter: '90s', priority: -3, input: null },
  {
    cron: 'H H * * *',
    overlap: 'queue(7)',
    deadline: '90m',
    expect: { duration: '1h' },
    missed: { policy: 'all', max_age: '1w', max_count: 5, every: '30s' },
    start: '2026-01-01T00:00:00Z',
    end: '2028-01-01T00:00:00+02:00',
  },
]

for (const definition of definitions) {
  test(`the written form of ${JSON.stringify(definition).slice(0, 60)} reads as the same`, () => {
    const spec = specOf(definition)
    const shown = writeSchedule(decodeSpec<RuleSource>(spec))
    assert.equal(specOf(shown), spec)
    // Nothing depends on the defaults of another version or another server.
    for (const field of ['zone', 'dst', 'overlap', 'missed'] as const) assert.ok(shown[field])
  })
}

test('the order of fields does not change a definition', () => {
  const dst = { repeat: 'both', gap: 'skip' } as const
  const one = specOf({ cron: '@daily', zone: 'UTC', dst, jitter: '1m' })
  const other = specOf({
    jitter: '1m',
    dst: { gap: 'skip', repeat: 'both' },
    zone: 'UTC',
    cron: '@daily',
  })
  assert.equal(one, other)
})

test('an error has the field and a valid form', () => {
  const context = { ...HERE, at: 'schedule.2.' }
  const refused = (definition: ScheduleDefinition) => {
    try {
      readSchedule(definition, context)
    } catch (error) {
      assert.ok(error instanceof PunctualError)
      return [error.field, error.message, error.hint]
    }
    return assert.fail('it was taken')
  }
  assert.deepEqual(refused({ cron: '@daily', zone: 'Europe/Athen' }), [
    'schedule.2.zone',
    'schedule.2.zone: "Europe/Athen" is not the name of a zone',
    'Did you mean Europe/Athens?',
  ])
  const [field, , hint] = refused({ every: '1h', overlap: 'queue(0)' })
  assert.deepEqual(
    [field, hint],
    ['schedule.2.overlap', 'At most 100 may wait: the default is queue(1).'],
  )
})

const words: [definition: ScheduleDefinition, words: string][] = [
  [{ cron: '5 9 * * 1-5' }, 'weekdays at 09:05, Europe/Athens'],
  [{ every: '90s' }, 'every 1m30s'],
  [{ every: '15 minutes', zone: 'UTC' }, 'every 15 minutes, UTC'],
  [{ every: '5m after finish' }, '5m after finish'],
  [{ every: '0s after finish' }, 'as soon as the last run has ended'],
  [{ at: '2027-01-01T09:00' }, 'once, at 2027-01-01T07:00:00Z'],
  [
    { every: '1h', start: '2026-01-01T00:00:00Z', jitter: '2m' },
    'every 1h, from 2026-01-01T00:00:00Z, up to 2m later',
  ],
]

for (const [definition, expected] of words) {
  test(`${expected}, in words`, () => {
    assert.equal(scheduleWords(readSchedule(definition, HERE).rule), expected)
  })
}
