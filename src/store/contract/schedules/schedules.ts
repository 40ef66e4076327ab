import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, ids, only } from '../fixture.ts'
import {
  auditOf,
  commandFor,
  fireNext,
  fireOne,
  load,
  MINUTE_MS,
  occurrencesOf,
  putNew,
  outcomesOf,
  scheduleInput,
} from './schedule-fixture.ts'
import { onFreshStores, onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

const pause = (world: StoreWorld, id: number, until: number | null = null) =>
  world.store.pauseSchedule({
    projectId: world.project,
    id,
    until,
    reason: 'a holiday',
    audit: auditOf(world, 'schedule.pause'),
  })
const resume = (world: StoreWorld, id: number) =>
  world.store.resumeSchedule({
    projectId: world.project,
    id,
    audit: auditOf(world, 'schedule.resume'),
  })
const remove = (
  world: StoreWorld,
  id: number,
  { projectId = world.project, expect = null as number | null } = {},
) => world.store.deleteSchedule({ projectId, id, expect, audit: auditOf(world, 'schedule.delete') })
const skipNext = (world: StoreWorld, id: number) =>
  world.store.skipNext({ projectId: world.project, id, audit: auditOf(world, 'schedule.skip') })

async function pauseJob(world: StoreWorld, isPaused: boolean): Promise<void> {
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
    'an identical put changes nothing; another version than expected is a conflict',
    inWorld(async (world) => {
      const { id, name, spec, version } = await putNew(world)
      const audit = auditOf(world, 'schedule.put')
      const put = (overrides: object) =>
        world.store.putSchedule({ ...scheduleInput(world, { name, spec, ...overrides }), audit })
      assert.deepEqual(await put({}), { kind: 'same', id, version })
      assert.deepEqual(await put({ spec: 'new', expect: 9 }), { kind: 'conflict', version: 1 })
      assert.deepEqual(await put({ spec: 'new', expect: 0 }), { kind: 'conflict', version: 1 })
      assert.deepEqual(await put({ spec: 'new', expect: 1 }), { kind: 'changed', id, version: 2 })
      assert.equal((await load(world, id)).spec, 'new')
    }),
  )

  test(
    'a job has a maximum number of schedules',
    inWorld(async (world) => {
      await putNew(world, { maxSchedules: 2 })
      await putNew(world, { maxSchedules: 2 })
      const audit = auditOf(world, 'schedule.put')
      assert.deepEqual(
        await world.store.putSchedule({ ...scheduleInput(world, { maxSchedules: 2 }), audit }),
        {
          kind: 'full',
        },
      )
    }),
  )

  test(
    'schedules to check come the earliest first, page by page',
    onNewStore(async (world) => {
      const now = world.clock.now()
      const at = (ms: number) => ({ next: { nominalAt: now + ms, checkAt: now + ms + 5 } })
      const late = await putNew(world, at(300))
      const soon = await putNew(world, at(100))
      const same = await putNew(world, at(100))
      await putNew(world, { next: { nominalAt: null, checkAt: null } })
      await putNew(world, at(301))
      const due = (after: { checkAt: number; id: number } | null, limit: number) =>
        world.store.dueSchedules({ after, until: now + 305, limit })
      assert.deepEqual(await due(null, 9), [soon, same, late])
      assert.deepEqual(ids(await due(null, 1)), [soon.id])
      assert.deepEqual(ids(await due({ checkAt: now + 105, id: soon.id }, 1)), [same.id])
      assert.deepEqual(ids(await due({ checkAt: now + 105, id: same.id }, 9)), [late.id])
    }),
  )

  test(
    'an edit makes firings that were decided before it fail',
    inWorld(async (world) => {
      const before = await putNew(world)
      world.clock.advance(MINUTE_MS)
      const next = { nominalAt: world.clock.now() + 1, checkAt: world.clock.now() + 1 }
      const audit = auditOf(world, 'schedule.put')
      const input = scheduleInput(world, { name: before.name, spec: 'new', next })
      await world.store.putSchedule({ ...input, audit })
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
    'an edit whose next time is past leaves that time to the new version',
    inWorld(async (world) => {
      const { id, name, next } = await putNew(world)
      world.clock.advance(3 * MINUTE_MS)
      const audit = auditOf(world, 'schedule.put')
      const nominalAt = world.clock.now() - MINUTE_MS
      const late = { nominalAt, checkAt: nominalAt }
      await world.store.putSchedule({
        ...scheduleInput(world, { name, spec: 'new', next: late }),
        audit,
      })
      const { untilAt, nominalAt: from } = only(await occurrencesOf(world, id))
      assert.deepEqual([from, untilAt], [next.nominalAt, nominalAt - 1])
      assert.equal((await fireNext(world, id)).kind, 'done')
    }),
  )

  test(
    'an edit cannot go back before a time that has fired',
    inWorld(async (world) => {
      const { id, name, next } = await putNew(world)
      world.clock.advance(MINUTE_MS)
      await fireNext(world, id)
      const before = await load(world, id)
      const input = scheduleInput(world, { name, spec: 'new', next })
      const result = await world.store.putSchedule({
        ...input,
        audit: auditOf(world, 'schedule.put'),
      })
      assert.deepEqual(result, { kind: 'overtaken', lastNominalAt: next.nominalAt })
      assert.deepEqual(await load(world, id), before)
    }),
  )

  test(
    'an edit before anything came due leaves no record',
    inWorld(async (world) => {
      const { id, name } = await putNew(world)
      const audit = auditOf(world, 'schedule.put')
      await world.store.putSchedule({ ...scheduleInput(world, { name, spec: 'new' }), audit })
      assert.deepEqual(await outcomesOf(world, id), [])
    }),
  )

  test(
    'a paused schedule is not checked and does not fire; its next time stays',
    inWorld(async (world) => {
      const before = await putNew(world)
      world.clock.advance(MINUTE_MS)
      assert.equal(await pause(world, before.id), true)
      const paused = await load(world, before.id)
      assert.deepEqual(paused.next, { nominalAt: before.next.nominalAt, checkAt: null })
      const at = world.clock.now()
      const reason = 'a holiday'
      assert.deepEqual(paused.pause, { at, until: null, reason, byJob: false, resumedAt: null })
      assert.deepEqual(await fireOne(world, commandFor(world, before)), { kind: 'lost' })
      assert.deepEqual(await fireOne(world, commandFor(world, paused)), { kind: 'lost' })
    }),
  )

  test(
    'a resumed schedule is checked now, and firing ends the pause',
    inWorld(async (world) => {
      const { id } = await putNew(world)
      assert.equal(await resume(world, id), 'running')
      await pause(world, id)
      world.clock.advance(2 * MINUTE_MS)
      assert.equal(await resume(world, id), 'resumed')
      assert.equal(await resume(world, id), 'running')
      const resumed = await load(world, id)
      assert.equal(resumed.next.checkAt, world.clock.now())
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
          next: { nominalAt: untilAt + 1, checkAt: untilAt + 1 },
        }),
      )
      assert.deepEqual(verdict, { kind: 'done', outcomes: [], openRuns: [] })
      assert.equal((await load(world, id)).pause, null)
      assert.deepEqual(await outcomesOf(world, id), ['skipped paused'])
    }),
  )

  test(
    'a schedule paused until a time is checked then',
    inWorld(async (world) => {
      const { id } = await putNew(world)
      const until = world.clock.now() + DAY_MS
      await pause(world, id, until)
      assert.equal((await load(world, id)).next.checkAt, until)
      assert.deepEqual(await fireNext(world, id), { kind: 'early' })
      world.clock.advance(DAY_MS)
      assert.equal((await fireNext(world, id)).kind, 'done')
      assert.equal((await load(world, id)).pause, null)
    }),
  )

  test(
    'a schedule paused again before the check stays paused since the first time',
    inWorld(async (world) => {
      const { id } = await putNew(world)
      await pause(world, id)
      const at = world.clock.now()
      world.clock.advance(10)
      await resume(world, id)
      world.clock.advance(10)
      await pause(world, id)
      const { pause: now, next } = await load(world, id)
      assert.deepEqual([now?.at, now?.resumedAt, next.checkAt], [at, null, null])
    }),
  )

  test(
    'an edit of a paused schedule leaves it paused',
    inWorld(async (world) => {
      const { id, name } = await putNew(world)
      await pause(world, id)
      world.clock.advance(MINUTE_MS)
      const input = scheduleInput(world, { name, spec: 'new' })
      await world.store.putSchedule({ ...input, audit: auditOf(world, 'schedule.put') })
      const { next, pause: paused } = await load(world, id)
      assert.deepEqual([next.nominalAt, next.checkAt], [input.next.nominalAt, null])
      assert.ok(paused)
      assert.deepEqual(await outcomesOf(world, id), ['skipped paused'])
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
      assert.deepEqual([held.pause?.byJob, held.next.checkAt], [true, null])
      assert.equal((await load(world, own.id)).pause?.byJob, false)
      assert.equal(await resume(world, own.id), 'held')
      const born = await putNew(world)
      assert.deepEqual([born.pause?.byJob, born.next.checkAt], [true, null])
      await pause(world, own.id)
      await pauseJob(world, false)
      assert.equal((await load(world, id)).pause?.resumedAt, world.clock.now())
      assert.equal((await load(world, born.id)).next.checkAt, world.clock.now())
      assert.equal((await load(world, own.id)).pause?.resumedAt, null)
    }),
  )

  test(
    'a time to be skipped is returned, and is not skipped again once it has fired',
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
      assert.deepEqual(await outcomesOf(world, id), ['skipped asked'])
    }),
  )

  test(
    'there is nothing to skip without a next time',
    inWorld(async (world) => {
      const { id } = await putNew(world, { next: { nominalAt: null, checkAt: null } })
      assert.equal(await skipNext(world, id), null)
      assert.equal(await skipNext(world, world.mint()), null)
    }),
  )

  test(
    'of a deleted schedule only the history remains, and its name is free',
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
      assert.deepEqual(await outcomesOf(world, id), ['fired', 'skipped deleted'])
      assert.deepEqual(await fireOne(world, commandFor(world, before)), { kind: 'lost' })
      assert.notEqual((await putNew(world, { name: 'nightly' })).id, id)
    }),
  )

  test(
    'the schedules of a job are deleted with its definition',
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
    'a rule error is stored until the schedule fires again; not for a newer version',
    inWorld(async (world) => {
      const { id, version, next } = await putNew(world)
      const checkAt = world.clock.now() + 5
      const fail = (of: number) =>
        world.store.failSchedule({ id, version: of, error: 'no such zone', checkAt })
      assert.equal(await fail(version + 1), false)
      assert.equal(await fail(version), true)
      const failed = await load(world, id)
      assert.deepEqual([failed.error, failed.version], ['no such zone', version])
      assert.deepEqual(failed.next, { nominalAt: next.nominalAt, checkAt })
      world.clock.advance(MINUTE_MS)
      assert.equal((await fireNext(world, id)).kind, 'done')
      assert.equal((await load(world, id)).error, null)
    }),
  )

  test(
    'users of one project cannot change the schedules of another',
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
    'live nodes are listed',
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
