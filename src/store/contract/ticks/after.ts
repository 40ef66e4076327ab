import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Need } from '../../../core/run/needs.ts'
import type { NewRun, RecheckResult } from '../../port.ts'
import { sortedNumbers, endCommandFor, ids, only, runIds } from '../fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

const ROUNDS = 12

export function afterContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  const recheck = (world: StoreWorld, ...runs: number[]): Promise<RecheckResult> =>
    world.store.recheck({ limit: 0, recheckMs: 30_000, runs })
  /** A run that waits for others, as submitted. */
  const follow = async (world: StoreWorld, after: readonly Need[], more: Partial<NewRun> = {}) => {
    const run = world.newRun({ after, ...more })
    const { submits, signals } = await world.tick({ submits: [run] })
    assert.deepEqual(submits, [{ kind: 'gated' }])
    assert.deepEqual(signals, [{ kind: 'need', runId: run.id }])
    return run
  }

  test(
    'a run after another waits until that has ended',
    inWorld(async (world) => {
      const lease = await world.start()
      const run = await follow(world, [{ runId: lease.runId, wants: 'ok' }])
      assert.equal(await world.stateOf(run.id), 'blocked')
      const waits = { timerAt: null, ahead: null, gate: null, after: [lease.runId] }
      assert.deepEqual(await world.store.waitOf({ runId: run.id, maxCount: 9 }), waits)
      assert.deepEqual((await recheck(world, run.id)).lanes, [])
      assert.deepEqual(await world.claim(5), [])
      const { signals } = await world.tick({ ends: [endCommandFor(lease)] })
      assert.deepEqual(signals, [{ kind: 'need', runId: run.id }])
      assert.deepEqual((await recheck(world, run.id)).lanes, [world.lane])
      assert.deepEqual(runIds(await world.claim(5)), [run.id])
    }),
  )

  test(
    'a run does not wait for a run that has already ended',
    inWorld(async (world) => {
      const lease = await world.start()
      await world.end(lease, { to: 'failed', cause: 'exit' })
      const run = await follow(world, [{ runId: lease.runId, wants: 'notok' }])
      assert.deepEqual((await recheck(world, run.id)).lanes, [world.lane])
      assert.equal(await world.stateOf(run.id), 'ready')
    }),
  )

  test(
    'a run that can never start is skipped with a message, and signals the runs after it',
    inWorld(async (world) => {
      const lease = await world.start()
      const run = await follow(world, [{ runId: lease.runId, wants: 'ok' }], { dedupeKey: 'k' })
      const next = await follow(world, [{ runId: run.id, wants: 'ok' }])
      await world.end(lease, { to: 'failed', cause: 'exit' })
      const answer = await recheck(world, run.id)
      assert.deepEqual(answer.signals, [{ kind: 'need', runId: next.id }])
      const { state, message, finishedAt } = await world.find(run.id)
      assert.deepEqual([state, finishedAt], ['skipped', world.clock.now()])
      assert.match(message ?? '', /ended as failed/)
      assert.deepEqual(await world.submit(world.newRun({ dedupeKey: 'k' })), [{ kind: 'inserted' }])
      assert.deepEqual((await recheck(world, next.id)).signals, [])
      assert.equal(await world.stateOf(next.id), 'skipped')
    }),
  )

  test(
    'all needed runs have to end, and each end is signalled',
    inWorld(async (world) => {
      await world.submit(...world.newRuns(2))
      const [first, second] = await world.claim(2)
      assert.ok(first && second)
      const needs = [first, second].map(({ runId }) => ({ runId, wants: 'any' as const }))
      const run = await follow(world, needs)
      await world.end(first, { to: 'failed', cause: 'exit' })
      assert.deepEqual((await recheck(world, run.id)).lanes, [])
      const { signals } = await world.tick({ cancels: [{ runId: run.id, projectId: 0 }] })
      assert.deepEqual(signals, [])
      await world.end(second)
      assert.deepEqual((await recheck(world, run.id)).lanes, [world.lane])
    }),
  )

  test(
    'afterwards the run waits for its time, and at its gates, like any other',
    inWorld(async (world) => {
      const gates = [await world.gate('door', 1)]
      const inside = await world.start({ gates })
      const lane = await world.internLane('before')
      const lease = await world.start({ laneId: lane })
      const needs = [{ runId: lease.runId, wants: 'ok' as const }]
      const dueAt = world.clock.now() + 10_000
      const [timed, gated] = [
        await follow(world, needs, { dueAt, gates }),
        await follow(world, needs, { gates }),
      ]
      await world.end(lease)
      const answer = await recheck(world, timed.id, gated.id)
      assert.deepEqual([answer.lanes, answer.nextDueAt], [[], dueAt])
      assert.deepEqual(
        [await world.stateOf(timed.id), await world.stateOf(gated.id)],
        ['scheduled', 'blocked'],
      )
      const { refilled } = await world.tick({ ends: [endCommandFor(inside)] })
      assert.deepEqual(refilled, [world.lane])
      assert.deepEqual(runIds(await world.claim(5)), [gated.id])
      world.clock.advance(10_000)
      await world.store.promote({ positions: [world.mint()] })
      assert.equal(await world.stateOf(timed.id), 'blocked')
    }),
  )

  test(
    'a run that waits for others takes no slot from runs at its gates',
    inWorld(async (world) => {
      const gates = [await world.gate('door', 1)]
      const lane = await world.internLane('before')
      const lease = await world.start({ laneId: lane })
      await follow(world, [{ runId: lease.runId, wants: 'ok' }], { gates })
      const other = world.newRun({ gates })
      assert.deepEqual(await world.submit(other), [{ kind: 'inserted' }])
      assert.equal(await world.stateOf(other.id), 'ready')
    }),
  )

  test(
    'a run after an unknown run, or one of another project, is refused',
    inWorld(async (world) => {
      const foreign = world.newRun({ projectId: world.otherProject })
      await world.submit(foreign)
      const known = await world.start({ laneId: await world.internLane('before') })
      const missing = world.mint()
      for (const id of [missing, foreign.id]) {
        const after = [known.runId, id].map((runId) => ({ runId, wants: 'any' as const }))
        const run = world.newRun({ after, dedupeKey: 'k' })
        assert.deepEqual(await world.submit(run), [{ kind: 'unknown', id }])
        assert.equal(await world.store.findRun({ projectId: world.project, runId: run.id }), null)
      }
      assert.deepEqual(await world.submit(world.newRun({ dedupeKey: 'k' })), [{ kind: 'inserted' }])
    }),
  )

  test(
    'a repeated submission is the same run, whether the run still waits or not',
    inWorld(async (world) => {
      const lease = await world.start()
      const run = await follow(world, [{ runId: lease.runId, wants: 'ok' }])
      assert.deepEqual(await world.submit(run), [{ kind: 'exists' }])
      await world.end(lease)
      await recheck(world, run.id)
      assert.deepEqual(await world.submit(run), [{ kind: 'exists' }])
      assert.equal(await world.stateOf(run.id), 'ready')
      assert.deepEqual((await recheck(world, run.id)).lanes, [])
    }),
  )

  test(
    'a waiting run can be cancelled, and then has no needs',
    inWorld(async (world) => {
      const lease = await world.start()
      const run = await follow(world, [{ runId: lease.runId, wants: 'ok' }])
      assert.deepEqual(await world.cancel(run.id), { kind: 'cancelled' })
      assert.deepEqual((await world.tick({ ends: [endCommandFor(lease)] })).signals, [])
      assert.deepEqual((await recheck(world, run.id)).lanes, [])
      assert.equal(await world.stateOf(run.id), 'cancelled')
    }),
  )

  test(
    'a cancelled run counts as ended for the runs after it',
    inWorld(async (world) => {
      const first = world.newRun()
      await world.submit(first)
      const run = await follow(world, [{ runId: first.id, wants: 'notok' }])
      const { signals } = await world.tick({
        cancels: [{ runId: first.id, projectId: world.project }],
      })
      assert.deepEqual(signals, [{ kind: 'need', runId: run.id }])
      assert.deepEqual((await recheck(world, run.id)).lanes, [world.lane])
    }),
  )

  test(
    'the sweep finds runs whose signal was missed, and leaves others alone until their recheck',
    inWorld(async (world) => {
      await world.submit(...world.newRuns(2))
      const [ended, open_] = await world.claim(2)
      assert.ok(ended && open_)
      const [free, held] = [
        await follow(world, [{ runId: ended.runId, wants: 'ok' }]),
        await follow(world, [{ runId: open_.runId, wants: 'ok' }]),
      ]
      await world.end(ended)
      const sweep = () => world.store.recheck({ limit: 100, recheckMs: 30_000 })
      assert.deepEqual((await sweep()).lanes, [])
      world.clock.advance(5_000)
      assert.deepEqual((await sweep()).lanes, [world.lane])
      assert.deepEqual(
        [await world.stateOf(free.id), await world.stateOf(held.id)],
        ['ready', 'blocked'],
      )
      await world.end(open_)
      world.clock.advance(5_000)
      assert.deepEqual((await sweep()).lanes, [])
      world.clock.advance(30_000)
      assert.deepEqual((await sweep()).lanes, [world.lane])
    }),
  )

  test(
    'a run submitted while the run it needs ends is released, by a signal or by the sweep',
    inWorld(async (world) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await world.submit(...world.newRuns(4))
        const leases = await world.claim(4)
        const after = leases.map(({ runId }) => ({ runId, wants: 'ok' as const }))
        const runs = world.newRuns(3, { after })
        const ticks = await Promise.all([
          world.tick({ ends: leases.slice(0, 2).map((lease) => endCommandFor(lease)) }),
          world.tick({ submits: runs }),
          world.tick({ ends: leases.slice(2).map((lease) => endCommandFor(lease)) }),
        ])
        const signalled = ticks.flatMap(({ signals }) =>
          signals.flatMap((one) => (one.kind === 'need' ? one.runId : [])),
        )
        // Each gets at least the signal of its own submission, and is rechecked by the node that
        // gets a signal.
        await Promise.all(signalled.map((runId) => recheck(world, runId)))
        world.clock.advance(60_000)
        await world.store.recheck({ limit: 100, recheckMs: 1_000 })
        assert.deepEqual(sortedNumbers(runIds(await world.claim(10))), ids(runs))
      }
    }),
  )

  test(
    'many concurrent rechecks of one run release it once',
    inWorld(async (world) => {
      const lease = await world.start()
      const run = await follow(world, [{ runId: lease.runId, wants: 'ok' }])
      await world.end(lease)
      await Promise.all(Array.from({ length: 6 }, () => recheck(world, run.id)))
      assert.equal(only(await world.claim(6)).runId, run.id)
    }),
  )
}
