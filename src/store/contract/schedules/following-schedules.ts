import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, only } from '../fixture.ts'
import { auditOf, commandFor, fireOne, load, MINUTE_MS, putNew, toRun } from './schedule-fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

/** A schedule that has fired and whose next time is counted from the end of that run. */
async function putFollowing(world: StoreWorld): Promise<{ id: number; runId: number }> {
  const schedule = await putNew(world)
  world.clock.advance(MINUTE_MS)
  const next = { nominalAt: null, checkAt: world.clock.now() + MINUTE_MS }
  const command = commandFor(world, schedule, { next, tracksOpenRuns: true })
  const verdict = await fireOne(world, command)
  const runId = only(verdict.kind === 'done' ? verdict.openRuns : [])
  return { id: schedule.id, runId }
}

const pause = (world: StoreWorld, id: number, until: number | null) =>
  world.store.pauseSchedule({
    projectId: world.project,
    id,
    until,
    reason: null,
    audit: auditOf(world, 'schedule.pause'),
  })

export function followingSchedulesContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'a following time does not fire early, whatever clock the planning node has',
    inWorld(async (world) => {
      const { id } = await putFollowing(world)
      await world.end(only(await world.claim(9)))
      const schedule = await load(world, id)
      const settled = [toRun(world, world.clock.now() + 1)]
      const command = commandFor(world, schedule, { settled, tracksOpenRuns: true })
      assert.deepEqual(await fireOne(world, command), { kind: 'early' })
      assert.deepEqual(await load(world, id), schedule)
      world.clock.advance(1)
      assert.equal((await fireOne(world, command)).kind, 'done')
    }),
  )

  test(
    'a schedule that waits for its run does not advance before its pause ends',
    inWorld(async (world) => {
      const { id, runId } = await putFollowing(world)
      const until = world.clock.now() + DAY_MS
      await pause(world, id, until)
      await world.end(only(await world.claim(9)))
      const paused = await load(world, id)
      assert.deepEqual(
        [paused.next, paused.openRuns],
        [{ nominalAt: null, checkAt: until }, [runId]],
      )
      const command = commandFor(world, paused, { tracksOpenRuns: true })
      assert.deepEqual(await fireOne(world, command), { kind: 'early' })
      assert.deepEqual(await load(world, id), paused)
      world.clock.advance(DAY_MS)
      assert.equal((await fireOne(world, command)).kind, 'done')
      const { pause: over, next } = await load(world, id)
      assert.deepEqual([over, next], [null, command.next])
    }),
  )

  test(
    'a schedule that waits for its run and is paused indefinitely advances when it is resumed',
    inWorld(async (world) => {
      const { id } = await putFollowing(world)
      await pause(world, id, null)
      await world.end(only(await world.claim(9)))
      const paused = await load(world, id)
      assert.deepEqual(await fireOne(world, commandFor(world, paused)), { kind: 'lost' })
      const audit = auditOf(world, 'schedule.resume')
      await world.store.resumeSchedule({ projectId: world.project, id, audit })
      assert.equal((await fireOne(world, commandFor(world, await load(world, id)))).kind, 'done')
      assert.equal((await load(world, id)).pause, null)
    }),
  )

  test(
    'a firing planned from the end of an earlier run is refused once its time has fired',
    inWorld(async (world) => {
      const { id } = await putFollowing(world)
      const waiting = await load(world, id)
      const firedAt = waiting.lastNominalAt as number
      const next = { nominalAt: firedAt, checkAt: firedAt }
      const stale = commandFor(world, waiting, { next, tracksOpenRuns: true })
      assert.deepEqual(await fireOne(world, stale), { kind: 'lost' })
      assert.deepEqual(await load(world, id), waiting)
    }),
  )
}
