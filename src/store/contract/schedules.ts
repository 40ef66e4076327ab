import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, ids, only } from './fixture.ts'
import {
  auditOf,
  commandFor,
  fireNext,
  fireOne,
  load,
  MINUTE_MS,
  occurrencesOf,
  putNew,
  storyOf,
  wishOf,
} from './schedule-fixture.ts'
import { onFreshStores, onSharedStore, type OpenStore, type World } from './world.ts'

const pause = (world: World, id: number, until: number | null = null) =>
  world.store.pauseSchedule({
    ...{ projectId: world.project, id, until, reason: 'a holiday' },
    audit: auditOf(world, 'schedule.pause'),
  })
const resume = (world: World, id: number) =>
  world.store.resumeSchedule({
    ...{ projectId: world.project, id, audit: auditOf(world, 'schedule.resume') },
  })
const remove = (
  world: World,
  id: number,
  { projectId = world.project, expect = null as number | null } = {},
) => world.store.deleteSchedule({ projectId, id, expect, audit: auditOf(world, 'schedule.delete') })
const skipNext = (world: World, id: number) =>
  world.store.skipNext({ projectId: world.project, id, audit: auditOf(world, 'schedule.skip') })

async function pauseJob(world: World, isPaused: boolean): Promise<void> {
  const name = 'tidy-inbox'
  const audit = auditOf(world, 'job.pause')
  const expect = null
  await world.store.putJob({ projectId: world.project, name, definition: '{}', expect, audit })
  const reason = isPaused ? { reason: null } : null
  assert.ok(await world.store.pauseJob({ projectId: world.project, name, pause: reason, audit }))
}

export function schedulesContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)
  const onNewStore = onFreshStores(open)

  test(
    'a schedule is found by id, by name, in lists of its job and of its project',
    inWorld(async (world) => {
      const other = only(
        await world.store.internJobs([{ projectId: world.project, name: 'other' }]),
      )
      const mine = await putNew(world, { name: 'nightly' })
      const theirs = await putNew(world, { jobId: other })
      assert.deepEqual(await world.store.findSchedule({ jobId: world.job, name: 'nightly' }), mine)
      assert.equal(await world.store.findSchedule({ jobId: other, name: 'nightly' }), null)
      const list = (jobId: number | null, after = 0, limit = 9) =>
        world.store.listSchedules({ projectId: world.project, jobId, after, limit })
      assert.deepEqual(await list(null), [mine, theirs])
      assert.deepEqual(await list(null, mine.id), [theirs])
      assert.deepEqual(ids(await list(null, 0, 1)), [mine.id])
      assert.deepEqual(await list(other), [theirs])
      const { createdAt, createdBy, updatedBy, pause: none, error, openRuns } = mine
      assert.deepEqual([createdAt, createdBy, updatedBy], [world.clock.now(), 7, 7])
      assert.deepEqual([none, error, openRuns], [null, null, []])
    }),
  )

  test(
    'saying the same again changes nothing; another version than expected is a conflict',
    inWorld(async (world) => {
      const { id, name, spec, version } = await putNew(world)
      const audit = auditOf(world, 'schedule.put')
      const put = (overrides: object) =>
        world.store.putSchedule({ ...wishOf(world, { name, spec, ...overrides }), audit })
      assert.deepEqual(await put({}), { kind: 'same', id, version })
      assert.deepEqual(await put({ spec: 'new', expect: 9 }), { kind: 'conflict', version: 1 })
      assert.deepEqual(await put({ spec: 'new', expect: 0 }), { kind: 'conflict', version: 1 })
      assert.deepEqual(await put({ spec: 'new', expect: 1 }), { kind: 'changed', id, version: 2 })
      assert.equal((await load(world, id)).spec, 'new')
    }),
  )

  test(
    'a job has no more of them than it may',
    inWorld(async (world) => {
      await putNew(world, { most: 2 })
      await putNew(world, { most: 2 })
      const audit = auditOf(world, 'schedule.put')
      assert.deepEqual(await world.store.putSchedule({ ...wishOf(world, { most: 2 }), audit }), {
        kind: 'full',
      })
    }),
  )

  test(
    'those to look at come the earliest first, page by page',
    onNewStore(async (world) => {
      const now = world.clock.now()
      const at = (ms: number) => ({ next: { nominalAt: now + ms, lookAt: now + ms + 5 } })
      const late = await putNew(world, at(300))
      const soon = await putNew(world, at(100))
      const same = await putNew(world, at(100))
      await putNew(world, { next: { nominalAt: null, lookAt: null } })
      await putNew(world, at(301))
      const due = (after: { lookAt: number; id: number } | null, limit: number) =>
        world.store.dueSchedules({ after, until: now + 305, limit })
      assert.deepEqual(await due(null, 9), [soon, same, late])
      assert.deepEqual(ids(await due(null, 1)), [soon.id])
      assert.deepEqual(ids(await due({ lookAt: now + 105, id: soon.id }, 1)), [same.id])
      assert.deepEqual(ids(await due({ lookAt: now + 105, id: same.id }, 9)), [late.id])
    }),
  )

  test(
    'an edit takes the schedule from those who meant to fire it',
    inWorld(async (world) => {
      const before = await putNew(world)
      world.clock.advance(MINUTE_MS)
      const next = { nominalAt: world.clock.now() + 1, lookAt: world.clock.now() + 1 }
      const audit = auditOf(world, 'schedule.put')
      const wish = wishOf(world, { name: before.name, spec: 'new', next })
      await world.store.putSchedule({ ...wish, audit })
      assert.deepEqual(await fireOne(world, commandFor(world, before)), { kind: 'lost' })
      assert.deepEqual((await load(world, before.id)).next, next)
      const record = only(await occurrencesOf(world, before.id))
      const { nominalAt, untilAt, count, outcome, reason, version, runId } = record
      assert.deepEqual([nominalAt, untilAt], [before.next.nominalAt, world.clock.now()])
      assert.deepEqual(
        [outcome, reason, count, version, runId],
        ['skipped', 'edited', null, 1, null],
      )
    }),
  )

  test(
    'an edit whose next time is past already leaves that time to the new version',
    inWorld(async (world) => {
      const { id, name, next } = await putNew(world)
      world.clock.advance(3 * MINUTE_MS)
      const audit = auditOf(world, 'schedule.put')
      const nominalAt = world.clock.now() - MINUTE_MS
      const late = { nominalAt, lookAt: nominalAt }
      await world.store.putSchedule({ ...wishOf(world, { name, spec: 'new', next: late }), audit })
      const { untilAt, nominalAt: from } = only(await occurrencesOf(world, id))
      assert.deepEqual([from, untilAt], [next.nominalAt, nominalAt - 1])
      assert.equal((await fireNext(world, id)).kind, 'done')
    }),
  )

  test(
    'an edit cannot go back behind what has fired',
    inWorld(async (world) => {
      const { id, name, next } = await putNew(world)
      world.clock.advance(MINUTE_MS)
      await fireNext(world, id)
      const before = await load(world, id)
      const wish = wishOf(world, { name, spec: 'new', next })
      const fate = await world.store.putSchedule({ ...wish, audit: auditOf(world, 'schedule.put') })
      assert.deepEqual(fate, { kind: 'overtaken', lastNominalAt: next.nominalAt })
      assert.deepEqual(await load(world, id), before)
    }),
  )

  test(
    'an edit before anything came due leaves no record',
    inWorld(async (world) => {
      const { id, name } = await putNew(world)
      const audit = auditOf(world, 'schedule.put')
      await world.store.putSchedule({ ...wishOf(world, { name, spec: 'new' }), audit })
      assert.deepEqual(await storyOf(world, id), [])
    }),
  )

  test(
    'while it is paused nobody looks at it and nothing fires; what it says is next stays',
    inWorld(async (world) => {
      const before = await putNew(world)
      world.clock.advance(MINUTE_MS)
      assert.equal(await pause(world, before.id), true)
      const paused = await load(world, before.id)
      assert.deepEqual(paused.next, { nominalAt: before.next.nominalAt, lookAt: null })
      const at = world.clock.now()
      const reason = 'a holiday'
      assert.deepEqual(paused.pause, { at, until: null, reason, byJob: false, resumedAt: null })
      assert.deepEqual(await fireOne(world, commandFor(world, before)), { kind: 'lost' })
      assert.deepEqual(await fireOne(world, commandFor(world, paused)), { kind: 'lost' })
    }),
  )

  test(
    'resumed, it is to be looked at now, and firing ends the pause',
    inWorld(async (world) => {
      const { id } = await putNew(world)
      assert.equal(await resume(world, id), 'running')
      await pause(world, id)
      world.clock.advance(2 * MINUTE_MS)
      assert.equal(await resume(world, id), 'resumed')
      assert.equal(await resume(world, id), 'running')
      const resumed = await load(world, id)
      assert.equal(resumed.next.lookAt, world.clock.now())
      assert.equal(resumed.pause?.resumedAt, world.clock.now())
      const nominalAt = resumed.next.nominalAt as number
      const untilAt = world.clock.now()
      const verdict = await fireOne(
        world,
        commandFor(world, resumed, {
          settled: [
            ...([
              { kind: 'none', nominalAt, untilAt, count: 2, outcome: 'skipped', reason: 'paused' },
            ] as const),
          ],
          next: { nominalAt: untilAt + 1, lookAt: untilAt + 1 },
        }),
      )
      assert.deepEqual(verdict, { kind: 'done', outcomes: [], openRuns: [] })
      assert.equal((await load(world, id)).pause, null)
      assert.deepEqual(await storyOf(world, id), ['skipped paused'])
    }),
  )

  test(
    'paused until a time, it is looked at then',
    inWorld(async (world) => {
      const { id } = await putNew(world)
      const until = world.clock.now() + DAY_MS
      await pause(world, id, until)
      assert.equal((await load(world, id)).next.lookAt, until)
      assert.deepEqual(await fireNext(world, id), { kind: 'early' })
      world.clock.advance(DAY_MS)
      assert.equal((await fireNext(world, id)).kind, 'done')
      assert.equal((await load(world, id)).pause, null)
    }),
  )

  test(
    'paused again before anybody looked, it stays paused since the first time',
    inWorld(async (world) => {
      const { id } = await putNew(world)
      await pause(world, id)
      const at = world.clock.now()
      world.clock.advance(10)
      await resume(world, id)
      world.clock.advance(10)
      await pause(world, id)
      const { pause: now, next } = await load(world, id)
      assert.deepEqual([now?.at, now?.resumedAt, next.lookAt], [at, null, null])
    }),
  )

  test(
    'an edit of a paused schedule leaves it paused',
    inWorld(async (world) => {
      const { id, name } = await putNew(world)
      await pause(world, id)
      world.clock.advance(MINUTE_MS)
      const wish = wishOf(world, { name, spec: 'new' })
      await world.store.putSchedule({ ...wish, audit: auditOf(world, 'schedule.put') })
      const { next, pause: paused } = await load(world, id)
      assert.deepEqual([next.nominalAt, next.lookAt], [wish.next.nominalAt, null])
      assert.ok(paused)
      assert.deepEqual(await storyOf(world, id), ['skipped paused'])
    }),
  )

  test(
    'a paused job pauses its schedules and resumes only those',
    inWorld(async (world) => {
      const { id } = await putNew(world)
      const own = await putNew(world)
      await pause(world, own.id)
      await pauseJob(world, true)
      const held = await load(world, id)
      assert.deepEqual([held.pause?.byJob, held.next.lookAt], [true, null])
      assert.equal((await load(world, own.id)).pause?.byJob, false)
      assert.equal(await resume(world, own.id), 'held')
      const born = await putNew(world)
      assert.deepEqual([born.pause?.byJob, born.next.lookAt], [true, null])
      await pause(world, own.id)
      await pauseJob(world, false)
      assert.equal((await load(world, id)).pause?.resumedAt, world.clock.now())
      assert.equal((await load(world, born.id)).next.lookAt, world.clock.now())
      assert.equal((await load(world, own.id)).pause?.resumedAt, null)
    }),
  )

  test(
    'a time somebody wants skipped is named, once it has fired no more',
    inWorld(async (world) => {
      const before = await putNew(world)
      const { id } = before
      const nominalAt = before.next.nominalAt as number
      assert.equal(await skipNext(world, id), nominalAt)
      const marked = await load(world, id)
      assert.equal(marked.skipNominalAt, nominalAt)
      world.clock.advance(MINUTE_MS)
      assert.deepEqual(await fireOne(world, commandFor(world, before)), { kind: 'lost' })
      const untilAt = nominalAt
      const skipped = { kind: 'none', nominalAt, untilAt, count: 1 } as const
      await fireOne(
        world,
        commandFor(world, marked, {
          settled: [{ ...skipped, outcome: 'skipped', reason: 'asked' }],
        }),
      )
      assert.equal((await load(world, id)).skipNominalAt, null)
      assert.deepEqual(await storyOf(world, id), ['skipped asked'])
    }),
  )

  test(
    'there is nothing to skip where nothing comes',
    inWorld(async (world) => {
      const { id } = await putNew(world, { next: { nominalAt: null, lookAt: null } })
      assert.equal(await skipNext(world, id), null)
      assert.equal(await skipNext(world, world.mint()), null)
    }),
  )

  test(
    'a deleted schedule is gone for everybody but its history, and its name is free',
    inWorld(async (world) => {
      const before = await putNew(world, { name: 'nightly' })
      const { id } = before
      world.clock.advance(MINUTE_MS)
      assert.equal((await fireNext(world, id)).kind, 'done')
      world.clock.advance(MINUTE_MS)
      assert.equal(await remove(world, id, { projectId: world.otherProject }), 'unknown')
      const { version } = await load(world, id)
      assert.equal(await remove(world, id, { expect: version + 1 }), 'conflict')
      assert.equal((await load(world, id)).version, version)
      assert.equal(await remove(world, id, { expect: version }), 'deleted')
      assert.equal(await remove(world, id), 'unknown')
      assert.deepEqual(await world.store.findSchedules([id]), [])
      assert.deepEqual(await storyOf(world, id), ['fired', 'skipped deleted'])
      assert.deepEqual(await fireOne(world, commandFor(world, before)), { kind: 'lost' })
      assert.notEqual((await putNew(world, { name: 'nightly' })).id, id)
    }),
  )

  test(
    'the schedules of a job go with its definition',
    inWorld(async (world) => {
      await pauseJob(world, false)
      const { id } = await putNew(world)
      const { project: projectId } = world
      const audit = auditOf(world, 'job.delete')
      await world.store.deleteJob({ projectId, name: 'tidy-inbox', expect: null, audit })
      assert.deepEqual(await world.store.findSchedules([id]), [])
    }),
  )

  test(
    'a rule that cannot be read is said so until it fires again; a newer version is not',
    inWorld(async (world) => {
      const { id, version, next } = await putNew(world)
      const lookAt = world.clock.now() + 5
      const fail = (of: number) =>
        world.store.failSchedule({ id, version: of, error: 'no such zone', lookAt })
      assert.equal(await fail(version + 1), false)
      assert.equal(await fail(version), true)
      const failed = await load(world, id)
      assert.deepEqual([failed.error, failed.version], ['no such zone', version])
      assert.deepEqual(failed.next, { nominalAt: next.nominalAt, lookAt })
      world.clock.advance(MINUTE_MS)
      assert.equal((await fireNext(world, id)).kind, 'done')
      assert.equal((await load(world, id)).error, null)
    }),
  )

  test(
    'people of one project cannot touch the schedules of another',
    inWorld(async (world) => {
      const { id } = await putNew(world)
      const projectId = world.otherProject
      const audit = auditOf(world, 'schedule.pause')
      const { store } = world
      assert.equal(
        await store.pauseSchedule({ projectId, id, until: null, reason: null, audit }),
        false,
      )
      assert.equal(await store.resumeSchedule({ projectId, id, audit }), 'unknown')
      assert.equal(await store.skipNext({ projectId, id, audit }), null)
      const page = { projectId, jobId: world.job, after: 0, limit: 9 }
      assert.deepEqual(await store.listSchedules(page), [])
    }),
  )

  test(
    'nodes that are alive are named',
    inWorld(async (world) => {
      const other = await world.join()
      const alive = await world.store.liveNodes()
      assert.ok(alive.includes(other.node))
      assert.equal(alive.includes(world.node), !world.exclusive)
      await world.store.leave({ node: other.node, idMark: other.idFloor })
      assert.ok(!(await world.store.liveNodes()).includes(other.node))
    }),
  )
}
