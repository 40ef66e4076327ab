import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_LEAD_MS } from '../../../core/schedule/firing/early-firing.ts'
import type { FireCommand, FireResult, Lease, NewRun, ScheduleRecord } from '../../port.ts'
import { only } from '../fixture.ts'
import {
  auditOf,
  commandFor,
  load,
  MINUTE_MS,
  putNew,
  outcomesOf,
  toRun,
} from './schedule-fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

const SESSION = 7
const QUEUE = { overlap: { kind: 'queue', most: 1 }, tracksOpenRuns: true } as const

interface ReservedFiring {
  readonly run: NewRun
  readonly command: FireCommand
}

/** A run for the schedule's next time, reserved for a waiting session, and the command that fires it. */
function reservedFiring(
  world: StoreWorld,
  schedule: ScheduleRecord,
  run: Partial<NewRun> = {},
): ReservedFiring {
  const nominalAt = schedule.next.nominalAt as number
  const time = toRun(world, nominalAt, { reservation: world.reservation(SESSION), ...run })
  return { run: time.run, command: commandFor(world, schedule, { settled: [time], ...QUEUE }) }
}

/** Fires commands as of the given time, whatever the clock says. */
function fireAt(world: StoreWorld, at: number, ...commands: FireCommand[]): Promise<FireResult> {
  const valid = { validFrom: 0, validUntil: Number.MAX_SAFE_INTEGER }
  return world.store.fire({ node: world.node, ...valid, aheadTo: at, commands })
}

/** Puts a schedule that is due in `ms` milliseconds and fires it ahead of time. */
async function fireAhead(world: StoreWorld, ms: number, run: Partial<NewRun> = {}) {
  const schedule = await putNew(world)
  world.clock.advance(MINUTE_MS - ms)
  const promised = reservedFiring(world, schedule, run)
  const at = schedule.next.nominalAt as number
  return { ...promised, id: schedule.id, at, result: await fireAt(world, at, promised.command) }
}

async function leases(world: StoreWorld): Promise<readonly Lease[]> {
  return world.store.ownLeases({ node: world.node, after: 0, limit: 100 })
}

async function claimed(world: StoreWorld): Promise<readonly number[]> {
  return (await world.claim(9)).map(({ runId }) => runId)
}

/** Firing ahead of time, and what happens to the run if it does not reach its worker. */
export function firingAheadContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  for (const isGated of [false, true]) {
    test(
      `a run for a waiting worker is durable before its time, and counts as of then${isGated ? ', at its gate as well' : ''}`,
      inWorld(async (world) => {
        const gates = isGated ? [await world.gate('own', 1)] : []
        const { run, id, at, result } = await fireAhead(world, 300, { gates })
        assert.deepEqual([result.now, result.aheadMs, result.started], [at, 300, [run.id]])
        assert.equal(only(result.verdicts).kind, 'done')
        const lease = only(await leases(world))
        assert.deepEqual([lease.startedAt, lease.dueAt, lease.createdAt], [at, at, at])
        assert.deepEqual(await claimed(world), [])
        const { next, lastNominalAt } = await load(world, id)
        assert.deepEqual([next.nominalAt, lastNominalAt], [at + MINUTE_MS, at])
        assert.deepEqual(await outcomesOf(world, id), ['fired'])
        world.clock.advance(400)
        assert.equal(await world.end(lease), 'ended')
      }),
    )
  }

  test(
    'a time too far ahead is refused as early; a due time fires as of now',
    inWorld(async (world) => {
      const far = await fireAhead(world, 2 * MAX_LEAD_MS)
      assert.deepEqual(far.result.verdicts, [{ kind: 'early' }])
      world.clock.advance(2 * MAX_LEAD_MS + 5)
      const { now, aheadMs, verdicts } = await fireAt(world, far.at, far.command)
      assert.deepEqual([now, aheadMs, only(verdicts).kind], [far.at + 5, 0, 'done'])
    }),
  )

  test(
    'a command whose outcome may differ at its time is not executed ahead',
    inWorld(async (world) => {
      const schedule = await putNew(world)
      const { id } = schedule
      world.clock.advance(MINUTE_MS - 300)
      const at = schedule.next.nominalAt as number
      const kindOf = async (command: FireCommand) =>
        only((await fireAt(world, at, command)).verdicts).kind
      const settled = [toRun(world, at)]
      assert.equal(await kindOf(commandFor(world, schedule, { settled })), 'early')
      const none = { kind: 'none', nominalAt: at, untilAt: at, count: 1 } as const
      const missed = [{ ...none, outcome: 'missed', reason: 'policy' } as const]
      assert.equal(await kindOf(commandFor(world, schedule, { settled: missed })), 'early')
      const shared = [await world.gate('own', 1), await world.gate('shared', 9)]
      const gates = shared.toSorted((a, b) => a - b)
      assert.equal(await kindOf(reservedFiring(world, schedule, { gates }).command), 'early')
      assert.deepEqual(await load(world, id), schedule)
      assert.deepEqual([await outcomesOf(world, id), await world.list()], [[], []])
    }),
  )

  test(
    'a command is not executed ahead while a run of its schedule or a run at its gate is open: that run may end in time',
    inWorld(async (world) => {
      const gates = [await world.gate('own', 1)]
      const first = await fireAhead(world, 300, { gates })
      world.clock.advance(MINUTE_MS)
      const second = reservedFiring(world, await load(world, first.id), { gates })
      const secondAt = first.at + MINUTE_MS
      assert.deepEqual((await fireAt(world, secondAt, second.command)).verdicts, [
        { kind: 'early' },
      ])
      await world.end(only(await leases(world)))
      const holder = await world.start({ gates })
      const whileHeld = await fireAt(world, secondAt, second.command)
      assert.deepEqual([whileHeld.verdicts, whileHeld.started], [[{ kind: 'early' }], []])
      assert.deepEqual(await outcomesOf(world, first.id), ['fired'])
      await world.end(holder)
      const third = await fireAt(world, secondAt, second.command)
      assert.deepEqual(third.started, [second.run.id])
    }),
  )

  test(
    'commands of a batch that cannot be executed ahead do not block the others',
    inWorld(async (world) => {
      const gate = await world.gate('own', 1)
      const schedules = [await putNew(world), await putNew(world), await putNew(world)]
      world.clock.advance(MINUTE_MS - 300)
      await world.start({ gates: [gate] })
      const [a, b, c] = schedules.map((schedule, index) =>
        reservedFiring(world, schedule, index === 1 ? { gates: [gate] } : {}),
      ) as [ReservedFiring, ReservedFiring, ReservedFiring]
      const at = schedules[0]?.next.nominalAt as number
      const { verdicts, started } = await fireAt(world, at, a.command, b.command, c.command)
      assert.deepEqual(
        verdicts.map(({ kind }) => kind),
        ['done', 'early', 'done'],
      )
      assert.deepEqual(
        [...started].toSorted((x, y) => x - y),
        [a.run.id, c.run.id],
      )
    }),
  )

  for (const isGated of [false, true]) {
    test(
      `a run given back before its time waits for it, without counting the attempt${isGated ? ', and leaves its gate' : ''}`,
      inWorld(async (world) => {
        const gates = isGated ? [await world.gate('own', 1)] : []
        const { run, at } = await fireAhead(world, 300, { gates })
        const lease = only(await leases(world))
        const back = { to: 'given_back', cause: 'cancelled' } as const
        assert.equal(await world.end(lease, back), 'ended')
        assert.equal(await world.stateOf(run.id), 'scheduled')
        assert.deepEqual(await claimed(world), [])
        const early = await world.store.promote({ positions: [world.mint()] })
        assert.deepEqual([early.promoted, early.nextDueAt], [0, at])
        if (isGated) await world.end(await world.start({ gates }))
        world.clock.advance(300)
        await world.store.promote({ positions: [world.mint()] })
        const again = only(await world.claim(9))
        assert.deepEqual([again.runId, again.attempt, again.lost], [run.id, 1, 0])
      }),
    )
  }

  test(
    'a run that is to start some time after its nominal time waits for that time if it is given back before it',
    inWorld(async (world) => {
      const nominalAt = world.clock.now() + MINUTE_MS
      const at = nominalAt + 20_000
      const schedule = await putNew(world, { next: { nominalAt, checkAt: at } })
      world.clock.advance(at - 300 - world.clock.now())
      const { run, command } = reservedFiring(world, schedule)
      assert.deepEqual((await fireAt(world, at, command)).started, [run.id])
      const back = { to: 'given_back', cause: 'cancelled' } as const
      await world.end(only(await leases(world)), back)
      assert.equal(await world.stateOf(run.id), 'scheduled')
      const early = await world.store.promote({ positions: [world.mint()] })
      assert.deepEqual([early.promoted, early.nextDueAt], [0, at])
      world.clock.advance(300)
      await world.store.promote({ positions: [world.mint()] })
      assert.deepEqual(await claimed(world), [run.id])
    }),
  )

  test(
    'a run that started before the clock was set back does not wait for its time again',
    inWorld(async (world) => {
      const { run } = await fireAhead(world, 300)
      world.clock.advance(300)
      const back = { to: 'given_back', cause: 'cancelled' } as const
      await world.end(only(await leases(world)), back)
      const lease = only(await world.claim(1))
      world.clock.advance(10 * MINUTE_MS)
      await world.end(lease, { to: 'given_back', cause: 'cancelled' })
      const again = only(await world.claim(1))
      world.clock.advance(-5 * MINUTE_MS)
      await world.end(again, { to: 'given_back', cause: 'cancelled' })
      assert.deepEqual(await claimed(world), [run.id])
    }),
  )

  test(
    'a run given back at its time is ready at once; cancelled before, it has ended',
    inWorld(async (world) => {
      const first = await fireAhead(world, 300)
      world.clock.advance(300)
      const back = { to: 'given_back', cause: 'cancelled' } as const
      await world.end(only(await leases(world)), back)
      assert.deepEqual(await claimed(world), [first.run.id])
      const second = await fireAhead(world, 300)
      assert.equal((await world.cancel(second.run.id)).kind, 'marked')
      const marked = (await leases(world)).find(({ runId }) => runId === second.run.id) as Lease
      await world.end(marked, back)
      assert.equal(await world.stateOf(second.run.id), 'cancelled')
    }),
  )

  test(
    'a pause, skip or deletion after a firing ahead of time does not undo the firing',
    inWorld(async (world) => {
      const { id, at } = await fireAhead(world, 300)
      const { project: projectId, store } = world
      const skip = { projectId, id, audit: auditOf(world, 'schedule.skip') }
      assert.equal(await store.skipNext(skip), at + MINUTE_MS)
      const pause = { ...skip, until: null, reason: null }
      assert.ok(await store.pauseSchedule(pause))
      const { next, lastNominalAt } = await load(world, id)
      assert.deepEqual([next.nominalAt, lastNominalAt], [at + MINUTE_MS, at])
      assert.equal(await store.deleteSchedule(skip), 'deleted')
      assert.deepEqual(await outcomesOf(world, id), ['fired'])
    }),
  )
}
