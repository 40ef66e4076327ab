import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LeasedAttempt } from '../../src/core/wire/protocol.ts'
import { type Store, StoreError } from '../../src/store/port.ts'
import { startWorkflowHarness } from '../workflows/workflow-harness.ts'
import { SCHEDULE_CALLER, SCHEDULE_JOB, putSchedule, occurrenceLines } from './occurrence-lines.ts'
import { type InMemoryScheduler, startInMemory } from './scheduler-in-memory.ts'
import { registerManualWorker, succeeded } from './manual-worker.ts'

const BEAT_MS = 2_000

/** A schedule whose first run has started and whose next due time is unknown. */
async function startFollowing(
  every = '2s after finish',
  firstMs = 3_000,
  wrap = (store: Store) => store,
) {
  const world = await startInMemory({ wrap })
  const worker = await registerManualWorker(world.node.clientFor('default'), {
    jobs: [SCHEDULE_JOB],
    slots: 9,
  })
  const pass = async (ms: number, answered: number, held: readonly LeasedAttempt[]) => {
    for (let leftMs = ms; leftMs > 0; leftMs -= BEAT_MS) {
      await worker.heartbeat(answered, held)
      await world.clock.advance(Math.min(leftMs, BEAT_MS))
    }
  }
  await putSchedule(world.node, { every })
  await pass(firstMs, 0, [])
  const [run] = await worker.take()
  assert.ok(run)
  let isOver = false
  return {
    world,
    /** Lets time pass with the worker sending heartbeats. */
    pass: (ms: number) => pass(ms, 1, isOver ? [] : [run]),
    end() {
      isOver = true
      return worker.report([succeeded(run)])
    },
  }
}

const pause = ({ node }: InMemoryScheduler, until: number | null) =>
  node.admin.schedules.pause(SCHEDULE_CALLER, SCHEDULE_JOB, 'rule', { until, reason: null })
const resume = ({ node }: InMemoryScheduler) =>
  node.admin.schedules.resume(SCHEDULE_CALLER, SCHEDULE_JOB, 'rule')
const isPaused = async ({ node }: InMemoryScheduler) =>
  (await node.admin.schedules.find('default', SCHEDULE_JOB, 'rule')).pause !== null

test('a schedule that follows its run stays paused until the given time, whatever the run does', async () => {
  const { world, pass, end } = await startFollowing()
  await pause(world, world.clock.now() + 60_000)
  await pass(20_000)
  assert.ok(await isPaused(world))
  await end()
  await pass(30_000)
  assert.ok(await isPaused(world))
  assert.deepEqual(await occurrenceLines(world), ['2 fired'])
  await pass(16_000)
  assert.deepEqual(await occurrenceLines(world), ['2 fired', '25-63 skipped paused', '65 fired'])
})

test('a schedule that follows its run stays paused until it is resumed', async () => {
  const { world, pass, end } = await startFollowing()
  await pause(world, null)
  await pass(20_000)
  await end()
  await pass(17_000)
  assert.ok(await isPaused(world))
  await resume(world)
  await pass(2_500)
  assert.deepEqual(await occurrenceLines(world), ['2 fired', '25-40 skipped paused', '42 fired'])
})

test('a run that outlasts the pause is followed as without a pause', async () => {
  for (const until of [60_000, null]) {
    const { world, pass, end } = await startFollowing()
    await pause(world, until === null ? null : world.clock.now() + until)
    await pass(60_000)
    if (until === null) await resume(world)
    await pass(20_000)
    assert.deepEqual([await isPaused(world), await occurrenceLines(world)], [false, ['2 fired']])
    await end()
    await pass(2_500)
    assert.deepEqual(await occurrenceLines(world), ['2 fired', '85 fired'])
  }
})

test('a time that comes after the pause is not skipped', async () => {
  const { world, pass, end } = await startFollowing('1m after finish', 63_000)
  await pause(world, world.clock.now() + 10_000)
  await end()
  await pass(70_000)
  assert.deepEqual(await occurrenceLines(world), ['60 fired', '123 fired'])
})

test('without a delay, runs follow each other at once, however they end', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  const worker = await registerManualWorker(node.clientFor('default'), {
    jobs: [SCHEDULE_JOB],
    slots: 9,
  })
  await putSchedule(node, { every: '0s after finish' })
  const dues: number[] = []
  for (let n = 0; n < 20; n += 1) {
    await clock.advance(100)
    const runs = await worker.take()
    assert.equal(runs.length, 1, `turn ${n}`)
    dues.push(...runs.map(({ dueAt }) => dueAt))
    const fates = [{ outcome: 'succeeded' }, { outcome: 'failed', cause: 'error' }] as const
    await worker.report(runs.map(({ run, fence }) => ({ run, fence, ...fates[n % 2]! })))
  }
  // The next time is due right after the previous end, and there is never more than one run.
  const betweenMs = dues.slice(1).map((due, n) => due - (dues[n] as number))
  assert.deepEqual(new Set(betweenMs), new Set([100]))
})

test('runs that cannot be created do not follow each other at once', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  const secrets = [{ name: 'key', as: 'KEY' }]
  await node.admin.jobs.put(SCHEDULE_CALLER, SCHEDULE_JOB, { run: 'true', secrets } as object, null)
  await putSchedule(node, { every: '0s after finish' })
  await clock.advance(25_000)
  const lines = await occurrenceLines(world)
  assert.ok(lines.length >= 2 && lines.length <= 4, lines.join())
  assert.ok(lines.every((line) => line.endsWith('missed cannot_start')))
})

test('a run that is cancelled before it starts is followed at once too', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  await putSchedule(node, { every: '0s after finish' })
  await clock.advance(1_000)
  const client = node.clientFor('default')
  const [first] = (await client.listRuns({ job: SCHEDULE_JOB })).runs
  await client.cancel(first!.id)
  await clock.advance(1_000)
  assert.equal((await client.listRuns({ job: SCHEDULE_JOB })).runs.length, 2)
})

test('a workflow repeats: each wave begins when the one before has ended', async () => {
  const world = await startWorkflowHarness()
  const { node, clock, started } = world
  await world.define({ steps: { a: { task: 'a' }, b: { task: 'b', needs: 'a' } } })
  await node.admin.schedules.put(SCHEDULE_CALLER, 'flow', 'rule', {
    rule: { every: '0s after finish' },
  })
  for (let n = 0; n < 60; n += 1) {
    await clock.advance(50)
    await world.workOnce()
  }
  assert.ok(started.length > 20, `${started.length} steps in 3 s`)
  assert.deepEqual(
    started,
    started.map((_, n) => (n % 2 === 0 ? 'a' : 'b')),
  )
  const { runs } = await world.client.listRuns({ job: 'flow' })
  const waves = await Promise.all(
    runs.map(async ({ id }) => (await world.client.getRun(id)).workflow?.wave),
  )
  assert.deepEqual(
    waves,
    waves.map((_, n) => waves.length - n),
  )
})

test('when the store fails as a run ends, the follow-up is retried and not lost', async () => {
  for (const verb of ['schedulesFollowing', 'findSchedules'] as const) {
    let failures = 0
    const failing = (store: Store): Store => ({
      ...store,
      async [verb](ids: readonly number[]) {
        failures -= 1
        if (failures === 0) throw new StoreError('unavailable', 'it is away')
        return (await store[verb](ids)) as never
      },
    })
    const { world, pass, end } = await startFollowing('2s after finish', 3_000, failing)
    failures = 1
    await end()
    await pass(5_000)
    assert.ok(failures < 0, 'it was asked again')
    assert.deepEqual(await occurrenceLines(world), ['2 fired', '5 fired'], verb)
  }
})
