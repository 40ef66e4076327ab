import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../src/store/port.ts'
import { SCHEDULE_CALLER, SCHEDULE_JOB, putSchedule, occurrenceLines } from './occurrence-lines.ts'
import { startInMemory } from './scheduler-in-memory.ts'

/** Stored by an older version; this version refuses an expression in a command name. */
const REFUSED = JSON.stringify({
  input: { x: { type: 'string', default: 'date' } },
  run: '${{ input.x }} arg',
  deadline: '1h',
})

/** The stored definitions of these jobs are ones this version would refuse. */
const withRefused = (jobs: readonly string[]) => (store: Store) => ({
  ...store,
  findDefinition: async (key: Parameters<Store['findDefinition']>[0]) => {
    const record = await store.findDefinition(key)
    return record && jobs.includes(key.name) ? { ...record, definition: REFUSED } : record
  },
})

test('schedules of a stored job that is now refused say so, and others continue', async () => {
  const before = await startInMemory()
  await before.node.admin.jobs.put(SCHEDULE_CALLER, SCHEDULE_JOB, { run: 'true' }, null)
  await putSchedule(before.node, { every: '1s' }, { overlap: { kind: 'allow' } })
  await before.node.admin.jobs.put(SCHEDULE_CALLER, 'other', { run: 'true' }, null)
  const rule = { rule: { every: '1s' }, overlap: { kind: 'allow' } } as const
  await before.node.admin.schedules.put(SCHEDULE_CALLER, 'other', 'rule', rule)
  await before.node.stop()

  const world = await startInMemory({ beside: before, wrap: withRefused([SCHEDULE_JOB]) })
  const { node, clock } = world
  const since = clock.now()
  await clock.advance(5_500)
  const fates = async (job: string) => {
    const schedule = await node.admin.schedules.find('default', job, 'rule')
    const range = { from: since, until: clock.now(), limit: 100 }
    return node.admin.schedules.occurrences(schedule, range)
  }
  const fired = (await fates('other')).filter(({ outcome }) => outcome === 'fired')
  assert.ok(fired.length >= 4, `only ${fired.length} times of the other schedule fired`)
  const refused = await fates(SCHEDULE_JOB)
  assert.ok(refused.length >= 4, (await occurrenceLines(world)).join())
  for (const { outcome, reason, detail } of refused) {
    assert.deepEqual([outcome, reason], ['missed', 'cannot_start'])
    assert.match(detail ?? '', /run: /)
  }
  const why = await node.admin.scheduleReading.why('default', SCHEDULE_JOB, 'rule')
  assert.match(why.details.join('\n'), /No run could be made at its last time: run: /)
  const history = await node.admin.scheduleReading.occurrences('default', SCHEDULE_JOB, 'rule', {
    limit: 1,
  })
  assert.deepEqual(history.data[0]?.reason, 'cannot_start')
})
