import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../src/store/port.ts'
import { SCHEDULE_CALLER, SCHEDULE_JOB, putSchedule, occurrenceLines } from './occurrence-lines.ts'
import { startInMemory } from './scheduler-in-memory.ts'
import { registerManualWorker, succeeded } from './manual-worker.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const seconds = (from: number, to: number, outcome = 'fired') =>
  Array.from({ length: to - from + 1 }, (_, i) => `${from + i} ${outcome}`)

const ALLOW = { overlap: { kind: 'allow' } } as const

test('a schedule fires each of its times once, and its run has the due time', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  const worker = await registerManualWorker(node.clientFor('default'), {
    jobs: [SCHEDULE_JOB],
    slots: 9,
  })
  const { isNew, schedule } = await putSchedule(
    node,
    { every: '1s' },
    { ...ALLOW, input: { n: 1 } },
  )
  assert.deepEqual([isNew, schedule.version], [true, 1])
  await clock.advance(3_500)
  assert.deepEqual(await occurrenceLines(world), seconds(1, 3))
  const runs = await worker.take()
  assert.deepEqual(
    runs.map(({ dueAt, input }) => [dueAt - Date.UTC(2026, 0, 1), input as unknown]),
    [1_000, 2_000, 3_000].map((at) => [at, '{"n":1}']),
  )
})

test('several nodes fire each time once; when one stops, the others continue', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  const other = await startInMemory({ beside: world })
  for (let i = 0; i < 10; i += 1)
    await putSchedule(node, { every: '1s' }, { ...ALLOW, name: `r${i}` })
  await clock.advance(20_500)
  await other.node.stop()
  await clock.advance(10_000)
  for (let i = 0; i < 10; i += 1)
    assert.deepEqual(await occurrenceLines(world, `r${i}`), seconds(1, 30))
})

test('a time that its node did not fire in time is fired by another node', async () => {
  // The other node claims its window and then never acts.
  const stuck = (store: Store): Store => ({ ...store, fire: () => new Promise(() => {}) })
  const dead = await startInMemory({ wrap: stuck })
  const world = await startInMemory({ beside: dead })
  for (let i = 0; i < 6; i += 1) {
    await putSchedule(world.node, { every: '20s' }, { ...ALLOW, name: `r${i}` })
  }
  await dead.clock.advance(44_500)
  for (let i = 0; i < 6; i += 1) {
    const lines = await occurrenceLines(world, `r${i}`)
    assert.deepEqual(
      lines.map((line) => line.split(' ')[0]),
      ['20', '40'],
      lines.join(),
    )
  }
})

test('an edit within the look-ahead applies at once', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  await putSchedule(node, { every: '4s' }, ALLOW)
  await clock.advance(3_000)
  const { isNew, schedule } = await putSchedule(node, { every: '7s' }, ALLOW)
  assert.deepEqual([isNew, schedule.version], [false, 2])
  await clock.advance(12_000)
  assert.deepEqual(await occurrenceLines(world), ['7 fired', '14 fired'])
})

test('times that come due during a pause are recorded as skipped', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  await putSchedule(node, { every: '1s' }, ALLOW)
  await clock.advance(2_500)
  await node.admin.schedules.pause(SCHEDULE_CALLER, SCHEDULE_JOB, 'rule', {
    until: null,
    reason: null,
  })
  await clock.advance(10_000)
  assert.deepEqual(await occurrenceLines(world), seconds(1, 2))
  await node.admin.schedules.resume(SCHEDULE_CALLER, SCHEDULE_JOB, 'rule')
  await clock.advance(2_000)
  assert.deepEqual(await occurrenceLines(world), [
    ...seconds(1, 2),
    '3-12 skipped paused',
    ...seconds(13, 14),
  ])
})

test('a pause with an end ends by itself; that of a job ends with it', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  await node.admin.jobs.put(SCHEDULE_CALLER, SCHEDULE_JOB, {}, null)
  await putSchedule(node, { every: '1s' }, ALLOW)
  const until = clock.now() + 3_200
  await node.admin.schedules.pause(SCHEDULE_CALLER, SCHEDULE_JOB, 'rule', { until, reason: null })
  await clock.advance(5_500)
  await node.admin.jobs.pause(SCHEDULE_CALLER, SCHEDULE_JOB, null)
  await clock.advance(2_000)
  await node.admin.jobs.resume(SCHEDULE_CALLER, SCHEDULE_JOB)
  await clock.advance(1_100)
  assert.deepEqual(await occurrenceLines(world), [
    '1-3 skipped paused',
    ...seconds(4, 5),
    '6-7 skipped job_paused',
    '8 fired',
  ])
})

test('the next time can be skipped, and the others still fire', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  await putSchedule(node, { every: '1s' }, ALLOW)
  await clock.advance(1_500)
  assert.equal(
    await node.admin.schedules.skipNext(SCHEDULE_CALLER, SCHEDULE_JOB, 'rule'),
    Date.UTC(2026, 0, 1) + 2_000,
  )
  await clock.advance(2_000)
  assert.deepEqual(await occurrenceLines(world), ['1 fired', '2 skipped asked', '3 fired'])
})

test('a run started by hand does not change the schedule', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  await putSchedule(node, { every: '1s' }, { input: 'x' })
  const before = await node.admin.schedules.find('default', SCHEDULE_JOB, 'rule')
  const { id } = await node.admin.schedules.runNow(SCHEDULE_CALLER, SCHEDULE_JOB, 'rule')
  assert.deepEqual(await node.admin.schedules.find('default', SCHEDULE_JOB, 'rule'), before)
  const { input } = await node.clientFor('default').getRun(id)
  assert.equal(input, 'x')
  await clock.advance(1_010)
  assert.deepEqual(await occurrenceLines(world), ['1 fired'])
})

test('a deleted schedule fires no more', async () => {
  const { node, clock } = await startInMemory()
  await putSchedule(node, { every: '1s' }, ALLOW)
  await clock.advance(1_500)
  await node.admin.schedules.remove(SCHEDULE_CALLER, SCHEDULE_JOB, 'rule')
  await clock.advance(5_000)
  assert.equal((await node.clientFor('default').listRuns({ job: SCHEDULE_JOB })).runs.length, 1)
  await assert.rejects(node.admin.schedules.find('default', SCHEDULE_JOB, 'rule'), {
    code: 'schedule_not_found',
  })
})

test('runs that must not overlap wait, and those that cannot wait are merged', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  const worker = await registerManualWorker(node.clientFor('default'), {
    jobs: [SCHEDULE_JOB],
    slots: 9,
  })
  await putSchedule(node, { every: '1s' })
  await clock.advance(3_500)
  const [first, ...none] = await worker.take()
  assert.ok(first)
  assert.equal(none.length, 0)
  assert.deepEqual(await occurrenceLines(world), [
    '1 fired',
    '2 blocked overlap',
    '3 merged overlap',
  ])
  await worker.report([succeeded(first)])
  const [second] = await worker.take()
  assert.equal(second?.dueAt, Date.UTC(2026, 0, 1) + 2_000)
})

test('a schedule that follows its run fires the given delay after the run has ended', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  const worker = await registerManualWorker(node.clientFor('default'), {
    jobs: [SCHEDULE_JOB],
    slots: 9,
  })
  await putSchedule(node, { every: '2s after finish' })
  await clock.advance(7_000)
  assert.deepEqual(await occurrenceLines(world), ['2 fired'])
  const [first] = await worker.take()
  assert.ok(first)
  await worker.report([succeeded(first)])
  await clock.advance(2_500)
  assert.deepEqual(await occurrenceLines(world), ['2 fired', '9 fired'])
})

test('after an outage the latest missed time runs and the others are recorded as missed', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  await putSchedule(node, { every: '1h' }, ALLOW)
  clock.freeze(HOUR - 5_000)
  await clock.advance(10_000)
  clock.freeze(4.5 * HOUR)
  await clock.advance(10_000)
  const lines = (await occurrenceLines(world)).map((line) =>
    line.replace(/^\d+/, (at) => `${+at / 3_600}`),
  )
  assert.deepEqual(lines, [
    '1 fired',
    '2 missed superseded',
    '3 missed superseded',
    '4 missed superseded',
    '5 delayed made_up',
  ])
})

test('a clock that steps back fires nothing again; one that leaps ahead counts as an outage once it is accepted', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  await putSchedule(node, { every: '1s' }, ALLOW)
  await clock.advance(5_500)
  clock.jumpWall(-4_000)
  await clock.advance(4_000)
  assert.deepEqual(await occurrenceLines(world), seconds(1, 5))
  await clock.advance(2_000)
  assert.deepEqual(await occurrenceLines(world), seconds(1, 7))
  clock.jumpWall(HOUR)
  await clock.advance(70_000)
  const lines = await occurrenceLines(world)
  assert.ok(lines.some((line) => line.endsWith('missed superseded')))
  assert.equal(new Set(lines.map((line) => line.split(' ')[0])).size, lines.length)
})

test('an unknown rule is refused; one that can no longer be read waits', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  await assert.rejects(putSchedule(node, { cron: '61 * * * *' }), {
    code: 'invalid_schedule',
    field: 'cron',
  })
  await assert.rejects(putSchedule(node, { at: '2025-01-01T00:00:00Z' }), {
    code: 'invalid_schedule',
  })
  await putSchedule(node, { every: '1m' }, { ...ALLOW, name: 'a' })
  // The machine no longer has the zone.
  const problem = { field: 'zone', message: 'it is unknown' }
  const restarted = await startInMemory({ beside: world, readRule: () => ({ ok: false, problem }) })
  await node.stop()
  await clock.advance(2 * MINUTE)
  const failed = await restarted.node.admin.schedules.find('default', SCHEDULE_JOB, 'a')
  assert.equal(failed.error, 'it is unknown')
  assert.deepEqual(await occurrenceLines(restarted, 'a'), [])
  const updated = await startInMemory({ beside: world })
  await restarted.node.stop()
  clock.freeze(HOUR)
  await clock.advance(MINUTE)
  const cured = await updated.node.admin.schedules.find('default', SCHEDULE_JOB, 'a')
  assert.equal(cured.error, null)
  assert.ok((await occurrenceLines(updated, 'a')).length > 1)
})

test('a run that cannot be created is recorded, and the schedule continues', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  const secrets = [{ name: 'key', as: 'KEY' }]
  await node.admin.jobs.put(SCHEDULE_CALLER, SCHEDULE_JOB, { run: 'true', secrets } as object, null)
  await putSchedule(node, { every: '1s' }, ALLOW)
  await clock.advance(2_500)
  assert.deepEqual(await occurrenceLines(world), seconds(1, 2, 'missed cannot_start'))
})

test('many schedules due at once fire in batches, each time once', async () => {
  const sizes: number[] = []
  const world = await startInMemory({
    wrap: (store) => ({
      ...store,
      fire: (batch) => (sizes.push(batch.commands.length), store.fire(batch)),
    }),
  })
  const { node, clock } = world
  for (let i = 0; i < 1_200; i += 1) {
    const rule = { every: '1m' }
    await node.admin.schedules.put(SCHEDULE_CALLER, `${SCHEDULE_JOB}${i % 2 || ''}`, `r${i}`, {
      rule,
      ...ALLOW,
    })
  }
  await clock.advance(MINUTE + 2_000)
  assert.equal(
    sizes.reduce((sum, size) => sum + size, 0),
    1_200,
  )
  assert.ok(Math.max(...sizes) <= 500)
  assert.deepEqual(await occurrenceLines(world, 'r6'), ['60 fired'])
})
