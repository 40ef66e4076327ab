import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ScheduleRecord, ScheduleRevision } from '../../port.ts'
import { auditOf, fireNext, load, MINUTE_MS, putNew, scheduleInput } from './schedule-fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

const NAME = 'tidy-inbox'

/** The schedules of the job, by name. */
async function schedulesOf({ store, project: projectId, job: jobId }: StoreWorld) {
  const all = await store.listSchedules({ projectId, jobId, after: 0, limit: 99 })
  return all.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

const find = ({ store, project: projectId }: StoreWorld) =>
  store.findDefinition({ projectId, name: NAME })

/** Everything that a change could have changed. */
async function everything(world: StoreWorld) {
  const { store, project: projectId } = world
  const page = { projectId, before: Number.MAX_SAFE_INTEGER, limit: 99 }
  const audit = (await store.listAudit(page)).map(({ action }) => action)
  return { schedules: await schedulesOf(world), definition: await find(world), audit }
}

const putOf = (world: StoreWorld, name: string, spec: string, id = world.mint()) => ({
  id,
  name,
  spec,
  next: scheduleInput(world).next,
  audit: auditOf(world, 'schedule.put'),
})
const removeOf = (world: StoreWorld, { id }: ScheduleRecord) => ({
  id,
  audit: auditOf(world, 'schedule.delete'),
})

async function revise(
  world: StoreWorld,
  asked: Partial<ScheduleRevision>,
  { definition = 'new', expect = null as number | null } = {},
) {
  const { store, project: projectId } = world
  const seen = asked.seen ?? (await schedulesOf(world))
  const schedules = { puts: [], removes: [], ...asked, seen }
  const audit = auditOf(world, 'job.put')
  return store.putJob({ projectId, name: NAME, definition, expect, schedules, audit })
}

export function scheduleRevisionsContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'a job and its schedules change at once: one created, one changed, one deleted, one unchanged',
    inWorld(async (world) => {
      const changed = await putNew(world, { name: 'changed' })
      const gone = await putNew(world, { name: 'gone' })
      const kept = await putNew(world, { name: 'kept' })
      world.clock.advance(MINUTE_MS)
      const puts = [putOf(world, 'come', 'a'), putOf(world, 'changed', 'b', changed.id)]
      const result = await revise(world, { puts, removes: [removeOf(world, gone)] })
      assert.deepEqual(result, { kind: 'put', version: 1 })
      assert.equal((await find(world))?.definition, 'new')
      const all = await schedulesOf(world)
      assert.deepEqual(
        all.map(({ id, name, spec, version }) => [id, name, spec, version]),
        [
          [changed.id, 'changed', 'b', 2],
          [puts[0]?.id, 'come', 'a', 1],
          [kept.id, 'kept', kept.spec, 1],
        ],
      )
      assert.deepEqual(all[1]?.next, puts[0]?.next)
      const { audit } = await everything(world)
      const lines = ['job.put', 'schedule.put', 'schedule.put', 'schedule.delete']
      assert.deepEqual(audit.slice(0, 4).toSorted(), lines.toSorted())
    }),
  )

  test(
    'schedules also change when the definition is the same, and stay without a revision',
    inWorld(async (world) => {
      await revise(world, { puts: [putOf(world, 'a', 'one')] })
      const [made] = await schedulesOf(world)
      const again = await revise(world, { puts: [putOf(world, 'a', 'two', made?.id)] })
      assert.deepEqual(again, { kind: 'same', version: 1 })
      const audit = auditOf(world, 'job.put')
      const asked = { projectId: world.project, name: NAME, definition: 'newer', expect: null }
      await world.store.putJob({ ...asked, audit })
      assert.deepEqual(
        (await schedulesOf(world)).map(({ spec }) => spec),
        ['two'],
      )
    }),
  )

  test(
    'a schedule added to a paused job is paused with it',
    inWorld(async (world) => {
      await revise(world, {})
      const audit = auditOf(world, 'job.pause')
      const pause = { reason: null }
      await world.store.pauseJob({ projectId: world.project, name: NAME, pause, audit })
      await revise(world, { puts: [putOf(world, 'a', 'one')] })
      const [held] = await schedulesOf(world)
      assert.deepEqual([held?.pause?.byJob, held?.next.checkAt], [true, null])
    }),
  )

  const CONCURRENT_CHANGES: readonly [
    string,
    (world: StoreWorld, old: ScheduleRecord) => Promise<unknown>,
  ][] = [
    ['another came', (world) => putNew(world)],
    [
      'it was changed',
      (world, { name }) =>
        world.store.putSchedule({
          ...scheduleInput(world, { name, spec: 'theirs' }),
          audit: auditOf(world, 'schedule.put'),
        }),
    ],
    [
      'it was paused',
      (world, { id }) =>
        world.store.pauseSchedule({
          projectId: world.project,
          id,
          until: null,
          reason: null,
          audit: auditOf(world, 'schedule.pause'),
        }),
    ],
    [
      'it was deleted',
      (world, { id }) =>
        world.store.deleteSchedule({
          projectId: world.project,
          id,
          audit: auditOf(world, 'schedule.delete'),
        }),
    ],
    [
      'it was deleted and created again',
      async (world, { id, name }) => {
        const audit = auditOf(world, 'schedule.delete')
        await world.store.deleteSchedule({ projectId: world.project, id, audit })
        await putNew(world, { name })
      },
    ],
  ]
  for (const [what, happen] of CONCURRENT_CHANGES) {
    test(
      `nothing changes when ${what} since the revision was decided`,
      inWorld(async (world) => {
        const old = await putNew(world)
        const seen = await schedulesOf(world)
        await happen(world, old)
        const before = await everything(world)
        const puts = [putOf(world, 'new', 'a'), putOf(world, old.name, 'b', old.id)]
        assert.deepEqual(await revise(world, { seen, puts }), { kind: 'overtaken', version: 0 })
        assert.deepEqual(await revise(world, { seen }), { kind: 'overtaken', version: 0 })
        assert.deepEqual(await everything(world), before)
      }),
    )
  }

  test(
    'a firing since then conflicts only with a next time that is not after it',
    inWorld(async (world) => {
      const old = await putNew(world)
      const seen = await schedulesOf(world)
      const early = putOf(world, old.name, 'new', old.id)
      world.clock.advance(MINUTE_MS)
      await fireNext(world, old.id)
      const before = await everything(world)
      const puts = [putOf(world, 'other', 'a'), early]
      assert.equal((await revise(world, { seen, puts })).kind, 'overtaken')
      assert.deepEqual(await everything(world), before)
      const later = putOf(world, old.name, 'new', old.id)
      assert.equal((await revise(world, { seen, puts: [later] })).kind, 'put')
      assert.equal((await load(world, old.id)).spec, 'new')
    }),
  )

  test(
    'a put that expects another version of the job changes no schedule either',
    inWorld(async (world) => {
      const before = await everything(world)
      const puts = [putOf(world, 'a', 'one')]
      assert.deepEqual(await revise(world, { puts }, { expect: 7 }), {
        kind: 'conflict',
        version: 0,
      })
      assert.deepEqual(await everything(world), before)
    }),
  )

  test(
    'of several revisions decided on the same state, one is applied',
    inWorld(async (world) => {
      const seen = await schedulesOf(world)
      const results = await Promise.all(
        ['a', 'b', 'c'].map((name) =>
          revise(world, { seen, puts: [putOf(world, name, name)] }, { definition: name }),
        ),
      )
      const kinds = results.map(({ kind }) => kind).toSorted()
      assert.deepEqual(kinds, ['overtaken', 'overtaken', 'put'])
      const { definition, schedules } = await everything(world)
      assert.deepEqual(
        schedules.map(({ name }) => name),
        [definition?.definition],
      )
    }),
  )

  test(
    'a failure between the job and its schedules changes neither',
    inWorld(async (world) => {
      const other = await world.store.internJobs([{ projectId: world.project, name: 'other' }])
      const theirs = await putNew(world, { jobId: other[0] as number })
      const mine = await putNew(world)
      const before = await everything(world)
      const taken = putOf(world, 'b', 'two', theirs.id)
      const puts = [putOf(world, 'a', 'one'), putOf(world, mine.name, 'new', mine.id), taken]
      await assert.rejects(revise(world, { puts }))
      assert.deepEqual(await everything(world), before)
    }),
  )
}
