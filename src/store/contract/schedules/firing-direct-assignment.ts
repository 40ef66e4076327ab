import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FireCommand, Lease, NewRun, ScheduleRecord } from '../../port.ts'
import { only } from '../fixture.ts'
import {
  commandFor,
  fireAll,
  load,
  MINUTE_MS,
  putNew,
  outcomesOf,
  toRun,
} from './schedule-fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

const SESSION = 7

/** A run for the schedule's next time, reserved for a waiting session, and the command that fires it. */
function promise(
  world: StoreWorld,
  schedule: ScheduleRecord,
  gates: readonly number[] = [],
): { run: NewRun; command: FireCommand } {
  const nominalAt = schedule.next.nominalAt as number
  const time = toRun(world, nominalAt, { gates, reservation: world.reservation(SESSION) })
  const queue = { overlap: { kind: 'queue', most: 1 }, tracksOpenRuns: true } as const
  const command = commandFor(world, schedule, { settled: [time], ...queue })
  return { run: time.run, command }
}

async function leases(world: StoreWorld): Promise<readonly Lease[]> {
  return world.store.ownLeases({ node: world.node, after: 0, limit: 100 })
}

export function firingDirectAssignmentContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  for (const isGated of [false, true]) {
    test(
      `a run with a reservation starts by firing${isGated ? ', past its gate' : ''}`,
      inWorld(async (world) => {
        const schedule = await putNew(world)
        const gates = isGated ? [await world.gate(`schedule ${schedule.id}`, 1)] : []
        world.clock.advance(MINUTE_MS)
        const { run, command } = promise(world, schedule, gates)
        const { started, lanes, now } = await fireAll(world, command)
        assert.deepEqual([started, lanes], [[run.id], []])
        const lease = only(await leases(world))
        assert.deepEqual(
          [lease.runId, lease.fence, lease.session, lease.startedAt, lease.dueAt],
          [run.id, run.reservation?.fence, SESSION, now, run.dueAt],
        )
        assert.deepEqual(await world.claim(9), [])
        assert.equal(await world.end(lease), 'ended')
        assert.deepEqual(await outcomesOf(world, schedule.id), ['fired'])
      }),
    )
  }

  test(
    'a run that has to wait for the previous run loses its reservation, and starts like any other',
    inWorld(async (world) => {
      const { id } = await putNew(world)
      const gates = [await world.gate(`schedule ${id}`, 1)]
      world.clock.advance(MINUTE_MS)
      const first = promise(world, await load(world, id), gates)
      await fireAll(world, first.command)
      world.clock.advance(MINUTE_MS)
      const second = promise(world, await load(world, id), gates)
      const { started, lanes } = await fireAll(world, second.command)
      assert.deepEqual([started, lanes], [[], []])
      assert.equal(await world.stateOf(second.run.id), 'blocked')
      assert.deepEqual(await outcomesOf(world, id), ['fired', 'blocked overlap'])
      await world.end(only(await leases(world)))
      const lease = only(await world.claim(9))
      assert.deepEqual([lease.runId, lease.session], [second.run.id, world.session])
    }),
  )

  test(
    'if the schedule has advanced meanwhile, no run starts',
    inWorld(async (world) => {
      const schedule = await putNew(world)
      world.clock.advance(MINUTE_MS)
      await fireAll(world, commandFor(world, schedule))
      const { started, verdicts } = await fireAll(world, promise(world, schedule).command)
      assert.deepEqual([started, verdicts], [[], [{ kind: 'lost' }]])
      assert.deepEqual(await leases(world), [])
    }),
  )

  test(
    'hundreds of runs start and end together, with and without gates',
    inWorld(async (world) => {
      const promised: ReturnType<typeof promise>[] = []
      for (let i = 0; i < 130; i += 1) {
        const schedule = await putNew(world)
        const gates = i % 2 === 0 ? [await world.gate(`schedule ${schedule.id}`, 1)] : []
        promised.push(promise(world, schedule, gates))
      }
      world.clock.advance(MINUTE_MS)
      const { started } = await fireAll(world, ...promised.map(({ command }) => command))
      const ids = promised.map(({ run }) => run.id)
      assert.deepEqual(
        [...started].toSorted((a, b) => a - b),
        ids,
      )
      const held = await world.store.ownLeases({ node: world.node, after: 0, limit: 1_000 })
      assert.equal(held.length, 130)
      for (const lease of held) assert.equal(await world.end(lease), 'ended')
    }),
  )
}
