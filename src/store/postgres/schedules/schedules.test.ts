import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditOf, load, putNew, scheduleInput } from '../../contract/schedules/schedule-fixture.ts'
import { onFreshStores, type StoreWorld } from '../../contract/world.ts'
import type { ScheduleRecord, Store } from '../../port.ts'
import { connectAdmin, openIn, untilLockWait } from '../postgres.fixture.ts'
import { openPostgresStore } from '../store.ts'

let where = { url: '', schema: '' }
const inWorld = onFreshStores(openIn({ place: (place) => (where = place) }))
const LATER = Number.MAX_SAFE_INTEGER
const JOB = 'tidy-inbox'

type Change<T> = (store: Store) => Promise<T>

/** Two nodes change the schedule at once: both wait for its row lock, and receive it in this order. */
async function serialized<T>(
  world: StoreWorld,
  id: number,
  first: Change<unknown>,
  second: Change<T>,
): Promise<T> {
  const other = await openPostgresStore({ ...where, now: world.clock.now })
  const admin = await connectAdmin(where.url)
  try {
    await admin.query('BEGIN')
    const next = `${where.schema}.schedule_next`
    await admin.query(`SELECT FROM ${next} WHERE schedule_id = $1 FOR UPDATE`, [id])
    const before = first(other)
    await untilLockWait(admin, 1, 'the first to wait for the schedule')
    const after = second(world.store)
    await untilLockWait(admin, 2, 'both to wait for the schedule')
    await admin.query('COMMIT')
    await before
    return await after
  } finally {
    await admin.end()
    await other.close()
  }
}

function changesOf(world: StoreWorld, { id, name }: ScheduleRecord) {
  const asked = { projectId: world.project, id, audit: auditOf(world, 'schedule.change') }
  const until = world.clock.now() + 1_000
  const pauseJob = (store: Store, pause: { reason: null } | null) =>
    store.pauseJob({ ...asked, name: JOB, pause })
  return {
    delete: (store: Store) => store.deleteSchedule(asked),
    pause: (store: Store) => store.pauseSchedule({ ...asked, until: null, reason: 'by hand' }),
    pauseUntil: (store: Store) => store.pauseSchedule({ ...asked, until, reason: null }),
    resume: (store: Store) => store.resumeSchedule(asked),
    put: (store: Store) => {
      const { audit } = asked
      return store.putSchedule({
        ...scheduleInput(world, { name, spec: '{"rule":"hourly"}' }),
        audit,
      })
    },
    pauseJob: (store: Store) => pauseJob(store, { reason: null }),
    resumeJob: (store: Store) => pauseJob(store, null),
  }
}

/** A schedule of a defined job, and the changes that can be made to it. */
async function prepare(world: StoreWorld) {
  const asked = { projectId: world.project, name: JOB, definition: '{}', expect: null }
  await world.store.putJob({ ...asked, audit: auditOf(world, 'job.put') })
  const schedule = await putNew(world)
  return { id: schedule.id, change: changesOf(world, schedule) }
}

async function dueIds(world: StoreWorld): Promise<number[]> {
  const due = await world.store.dueSchedules({ until: LATER, after: null, limit: 10 })
  return due.map(({ id }) => id)
}

for (const [what, operation, verdict] of [
  ['resumed', 'resume', 'unknown'],
  ['paused for a while', 'pauseUntil', false],
] as const) {
  test(
    `a schedule that is ${what} while another node deletes it stays deleted`,
    inWorld(async (world) => {
      const { id, change } = await prepare(world)
      await change.pause(world.store)
      assert.equal(await serialized<unknown>(world, id, change.delete, change[operation]), verdict)
      assert.deepEqual(await dueIds(world), [])
    }),
  )
}

test(
  'a schedule that is put while another node deletes it is created again',
  inWorld(async (world) => {
    const { id, change } = await prepare(world)
    const result = await serialized(world, id, change.delete, change.put)
    assert.ok(result.kind === 'created', result.kind)
    assert.deepEqual(await dueIds(world), [result.id])
  }),
)

test(
  'a schedule that is resumed while another node pauses its job is paused by the job',
  inWorld(async (world) => {
    const { id, change } = await prepare(world)
    await change.pause(world.store)
    assert.equal(await serialized(world, id, change.pauseJob, change.resume), 'held')
    assert.deepEqual(await dueIds(world), [])
  }),
)

test(
  'a job that is paused while another node resumes its schedule pauses the schedule',
  inWorld(async (world) => {
    const { id, change } = await prepare(world)
    await change.pause(world.store)
    await serialized(world, id, change.resume, change.pauseJob)
    const { pause } = await load(world, id)
    assert.deepEqual([pause?.byJob, await dueIds(world)], [true, []])
  }),
)

test(
  'a schedule that is paused by hand while another node resumes its job stays paused',
  inWorld(async (world) => {
    const { id, change } = await prepare(world)
    await change.pauseJob(world.store)
    await serialized(world, id, change.pause, change.resumeJob)
    const { pause } = await load(world, id)
    assert.deepEqual([pause?.reason, pause?.resumedAt], ['by hand', null])
    assert.deepEqual(await dueIds(world), [])
  }),
)
