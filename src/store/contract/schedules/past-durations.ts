import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, only } from '../fixture.ts'
import { fireNext, MINUTE_MS, putNew } from './schedule-fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

/** Fires the schedule's next time and ends the run after this duration. */
async function fireAndEnd(
  world: StoreWorld,
  id: number,
  ms: number,
  succeeds = true,
): Promise<void> {
  world.clock.advance(MINUTE_MS)
  assert.equal((await fireNext(world, id)).kind, 'done')
  const lease = only(await world.claim(9))
  world.clock.advance(ms)
  await world.end(lease, succeeds ? {} : { to: 'failed', cause: 'error' })
}

export function pastDurationsContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'the durations of the last runs of a schedule are known, if they succeeded and have ended',
    inWorld(async (world) => {
      const often = await putNew(world)
      const never = await putNew(world)
      for (const ms of [1, 20, 300]) await fireAndEnd(world, often.id, ms)
      await fireAndEnd(world, often.id, 4_000, false)
      const past = async (each: number) => {
        const scheduleIds = [never.id, often.id]
        const found = await world.store.pastDurations({ scheduleIds, each })
        assert.ok(found.every(({ scheduleId }) => scheduleId === often.id))
        return found.map(({ ms }) => ms).toSorted((a, b) => a - b)
      }
      assert.deepEqual(await past(9), [1, 20, 300])
      assert.deepEqual(await past(2), [300], 'the failed run is one of the last two')
      world.clock.advance(MINUTE_MS)
      await fireNext(world, often.id)
      assert.equal(at(await world.claim(9), 0).attempt, 1)
      assert.deepEqual(await past(3), [300], 'a running run has no duration yet')
      assert.deepEqual(await world.store.pastDurations({ scheduleIds: [], each: 3 }), [])
    }),
  )
}
