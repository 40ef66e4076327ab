import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idAtMs } from '../../core/ids.ts'
import type { BackfillMove, BackfillRecord } from '../port.ts'
import { HOUR_MS, only } from './fixture.ts'
import { auditOf, MINUTE_MS, putNew } from './schedule-fixture.ts'
import { onSharedStore, type OpenStore, type World } from './world.ts'

async function addNew(world: World): Promise<BackfillRecord> {
  const schedule = await putNew(world)
  const id = world.mint()
  const audit = auditOf(world, 'schedule.backfill')
  const spec = '{"which":"missing"}'
  await world.store.addBackfill({
    ...{ id, projectId: world.project, scheduleId: schedule.id, spec, audit },
  })
  return load(world, id)
}

async function load(world: World, id: number): Promise<BackfillRecord> {
  const found = await world.store.findBackfill({ projectId: world.project, id })
  assert.ok(found)
  return found
}

/** What a node that sees it like this asks for: a run for each of these times. */
function moveOf(
  world: World,
  { id, version }: BackfillRecord,
  times: readonly number[],
  overrides: Partial<BackfillMove> = {},
): BackfillMove {
  const runs = times.map((nominalAt) => ({ nominalAt, run: world.newRun({ dueAt: nominalAt }) }))
  return {
    ...{ node: world.node, id, version, place: times.at(-1) ?? null, passed: 1, error: null },
    ...{ lookAt: world.clock.now(), state: 'running', openRuns: runs.map(({ run }) => run.id) },
    runs,
    ...overrides,
  }
}

export function backfillsContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'a backfill makes runs for past times, which know them, and goes on from there',
    inWorld(async (world) => {
      const made = await addNew(world)
      assert.deepEqual(
        [made.state, made.version, made.place, made.openRuns, made.made, made.passed],
        ['running', 1, null, [], 0, 0],
      )
      assert.equal(made.createdBy, 7)
      const at = world.clock.now() - HOUR_MS
      const move = moveOf(world, made, [at, at + MINUTE_MS])
      assert.deepEqual(await world.store.moveBackfill(move), { lanes: [world.lane] })
      const leases = await world.claim(9)
      assert.deepEqual(
        leases.map(({ dueAt }) => dueAt),
        [at, at + MINUTE_MS],
      )
      const moved = await load(world, made.id)
      assert.deepEqual(
        [moved.version, moved.place, moved.made, moved.passed, moved.openRuns],
        [2, at + MINUTE_MS, 2, 1, leases.map(({ runId }) => runId)],
      )
      const range = { scheduleId: made.scheduleId, from: at, until: at + 1, limit: 9 }
      const first = { nominalAt: at, runId: leases[0]?.runId, backfillId: made.id }
      assert.deepEqual(await world.store.backfilledTimes(range), [first])
      const { scheduleId } = made
      const byRun = await world.store.backfilledBy({ runId: first.runId as number })
      assert.deepEqual(byRun, { scheduleId, ...first })
      assert.equal(await world.store.backfilledBy({ runId: made.id }), null)
    }),
  )

  test(
    'whoever comes second makes no run',
    inWorld(async (world) => {
      const made = await addNew(world)
      const at = world.clock.now() - HOUR_MS
      const moves = [moveOf(world, made, [at]), moveOf(world, made, [at])]
      const answers = await Promise.all(moves.map((move) => world.store.moveBackfill(move)))
      assert.equal(answers.filter((one) => one === null).length, 1)
      assert.equal((await world.list()).length, 1)
    }),
  )

  test(
    'a run whose id is taken is refused with everything else, and nothing moves',
    inWorld(async (world) => {
      const made = await addNew(world)
      const taken = world.newRun()
      await world.submit(taken)
      const runs = [{ nominalAt: world.clock.now() - HOUR_MS, run: taken }]
      await assert.rejects(world.store.moveBackfill(moveOf(world, made, [], { runs })))
      assert.deepEqual(await load(world, made.id), made)
    }),
  )

  test(
    'one that is cancelled makes no more runs, and is cancelled once',
    inWorld(async (world) => {
      const made = await addNew(world)
      const input = { projectId: world.project, id: made.id, audit: auditOf(world, 'cancel') }
      const other = { ...input, projectId: world.otherProject }
      assert.equal(await world.store.cancelBackfill(other), false)
      assert.equal(await world.store.cancelBackfill(input), true)
      assert.equal(await world.store.cancelBackfill(input), false)
      assert.equal(await world.store.moveBackfill(moveOf(world, made, [1_000])), null)
      const { state, finishedAt } = await load(world, made.id)
      assert.deepEqual([state, finishedAt], ['cancelled', world.clock.now()])
    }),
  )

  test(
    'those that are open and due are found, and the newest are listed first',
    inWorld(async (world) => {
      const [first, second, third] = [await addNew(world), await addNew(world), await addNew(world)]
      const now = world.clock.now()
      await world.store.moveBackfill(moveOf(world, first, [], { lookAt: now + HOUR_MS }))
      await world.store.moveBackfill(moveOf(world, second, [], { state: 'done' }))
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
    'what is over long enough is forgotten',
    inWorld(async (world) => {
      const done = await addNew(world)
      const at = world.clock.now() - HOUR_MS
      await world.store.moveBackfill(moveOf(world, done, [at], { state: 'done' }))
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
