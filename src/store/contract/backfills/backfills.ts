import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idAtMs } from '../../../core/ids.ts'
import type { BackfillTransition, BackfillRecord } from '../../port.ts'
import { HOUR_MS, only, originOf } from '../fixture.ts'
import { auditOf, MINUTE_MS, putNew } from '../schedules/schedule-fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

async function addNew(world: StoreWorld): Promise<BackfillRecord> {
  const schedule = await putNew(world)
  const id = world.mint()
  const audit = auditOf(world, 'schedule.backfill')
  const spec = '{"which":"missing"}'
  await world.store.addBackfill({
    id,
    projectId: world.project,
    scheduleId: schedule.id,
    spec,
    audit,
  })
  return load(world, id)
}

async function load(world: StoreWorld, id: number): Promise<BackfillRecord> {
  const found = await world.store.findBackfill({ projectId: world.project, id })
  assert.ok(found)
  return found
}

/** The transition of a node that sees the backfill like this: a run for each of these times. */
function backfillTransition(
  world: StoreWorld,
  { id, version }: BackfillRecord,
  times: readonly number[],
  overrides: Partial<BackfillTransition> = {},
): BackfillTransition {
  const runs = times.map((nominalAt) => ({ nominalAt, run: world.newRun({ dueAt: nominalAt }) }))
  return {
    node: world.node,
    id,
    version,
    processedUntil: times.at(-1) ?? null,
    passed: 1,
    error: null,
    checkAt: world.clock.now(),
    state: 'running',
    openRuns: runs.map(({ run }) => run.id),
    runs,
    ...overrides,
  }
}

export function backfillsContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'a backfill creates runs for past times, records which, and advances',
    inWorld(async (world) => {
      const made = await addNew(world)
      assert.deepEqual(
        [made.state, made.version, made.processedUntil, made.openRuns, made.made, made.passed],
        ['running', 1, null, [], 0, 0],
      )
      assert.equal(made.createdBy, 7)
      const at = world.clock.now() - HOUR_MS
      const move = backfillTransition(world, made, [at, at + MINUTE_MS])
      assert.deepEqual(await world.store.advanceBackfill(move), { lanes: [world.lane] })
      const leases = await world.claim(9)
      assert.deepEqual(
        leases.map(({ dueAt }) => dueAt),
        [at, at + MINUTE_MS],
      )
      const moved = await load(world, made.id)
      assert.deepEqual(
        [moved.version, moved.processedUntil, moved.made, moved.passed, moved.openRuns],
        [2, at + MINUTE_MS, 2, 1, leases.map(({ runId }) => runId)],
      )
      const range = { scheduleId: made.scheduleId, from: at, until: at + 1, limit: 9 }
      const first = { nominalAt: at, runId: leases[0]?.runId, backfillId: made.id }
      assert.deepEqual(await world.store.backfilledTimes(range), [first])
      const { scheduleId } = made
      const byRun = await world.store.backfilledBy({ runId: first.runId as number })
      assert.deepEqual(byRun, { scheduleId, ...first })
      const runId = first.runId as number
      assert.deepEqual(await world.store.originsOf({ runIds: [runId] }), [
        originOf(runId, { scheduleId, backfillId: made.id }),
      ])
      assert.equal(await world.store.backfilledBy({ runId: made.id }), null)
    }),
  )

  test(
    'the second of two concurrent transitions creates no run',
    inWorld(async (world) => {
      const made = await addNew(world)
      const at = world.clock.now() - HOUR_MS
      const moves = [backfillTransition(world, made, [at]), backfillTransition(world, made, [at])]
      const answers = await Promise.all(moves.map((move) => world.store.advanceBackfill(move)))
      assert.equal(answers.filter((one) => one === null).length, 1)
      assert.equal((await world.list()).length, 1)
    }),
  )

  test(
    'a run whose id is taken is refused with the whole transition, and the backfill does not advance',
    inWorld(async (world) => {
      const made = await addNew(world)
      const taken = world.newRun()
      await world.submit(taken)
      const runs = [{ nominalAt: world.clock.now() - HOUR_MS, run: taken }]
      await assert.rejects(
        world.store.advanceBackfill(backfillTransition(world, made, [], { runs })),
      )
      assert.deepEqual(await load(world, made.id), made)
    }),
  )

  test(
    'a cancelled backfill creates no more runs, and is cancelled once',
    inWorld(async (world) => {
      const made = await addNew(world)
      const input = { projectId: world.project, id: made.id, audit: auditOf(world, 'cancel') }
      const other = { ...input, projectId: world.otherProject }
      assert.equal(await world.store.cancelBackfill(other), false)
      assert.equal(await world.store.cancelBackfill(input), true)
      assert.equal(await world.store.cancelBackfill(input), false)
      assert.equal(
        await world.store.advanceBackfill(backfillTransition(world, made, [1_000])),
        null,
      )
      const { state, finishedAt } = await load(world, made.id)
      assert.deepEqual([state, finishedAt], ['cancelled', world.clock.now()])
    }),
  )

  test(
    'open and due backfills are found, and the newest are listed first',
    inWorld(async (world) => {
      const [first, second, third] = [await addNew(world), await addNew(world), await addNew(world)]
      const now = world.clock.now()
      await world.store.advanceBackfill(
        backfillTransition(world, first, [], { checkAt: now + HOUR_MS }),
      )
      await world.store.advanceBackfill(backfillTransition(world, second, [], { state: 'done' }))
      const due = await world.store.openBackfills({ until: now, limit: 100 })
      const own = due.filter(({ projectId }) => projectId === world.project)
      assert.deepEqual(
        own.map(({ id }) => id),
        [third.id],
      )
      const page = { projectId: world.project, before: third.id, limit: 9 }
      assert.deepEqual(
        (await world.store.listBackfills(page)).map(({ id, state }) => [id, state]),
        [
          [second.id, 'done'],
          [first.id, 'running'],
        ],
      )
      assert.equal(only([third]).state, 'running')
    }),
  )

  test(
    'backfills that ended long ago are deleted',
    inWorld(async (world) => {
      const done = await addNew(world)
      const at = world.clock.now() - HOUR_MS
      await world.store.advanceBackfill(backfillTransition(world, done, [at], { state: 'done' }))
      world.clock.advance(HOUR_MS)
      const open = await addNew(world)
      const before = idAtMs(world.clock.now() - MINUTE_MS)
      while ((await world.store.pruneOccurrences({ before, limit: 5 })).more);
      const find = (id: number) => world.store.findBackfill({ projectId: world.project, id })
      assert.deepEqual([await find(done.id), (await find(open.id))?.state], [null, 'running'])
      const range = { scheduleId: done.scheduleId, from: 0, until: at, limit: 9 }
      assert.deepEqual(await world.store.backfilledTimes(range), [])
    }),
  )
}
