import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { StoreError, type NewRun, type TickBatch } from '../../port.ts'
import { at, endCommandFor, only, runIds } from '../fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

/** Items that pass the type checker but that no store may keep. */
const POISON: readonly [why: string, run: (world: StoreWorld) => Partial<NewRun>][] = [
  ['a rank between two integers', () => ({ rank: 0.5 })],
  ['a rank that is no number', () => ({ rank: Number.NaN })],
  ['an id between two integers', (world) => ({ id: world.mint() + 0.5 })],
  ['a lane between two integers', (world) => ({ laneId: world.lane + 0.5 })],
  ['a timeout between two integers', () => ({ timeoutMs: 1.5 })],
  ['a rank that is missing', () => ({ rank: null as unknown as number })],
]

export function tickContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'an empty tick changes nothing and returns the time',
    inWorld(async (world) => {
      assert.deepEqual(await world.tick({}), {
        now: world.clock.now(),
        submits: [],
        ends: [],
        cancels: [],
        claims: [],
        limited: [],
        refilled: [],
        nextDueAt: null,
        signals: [],
      })
    }),
  )

  test(
    'one tick submits, ends, cancels and claims, and the claim sees all of it',
    inWorld(async (world) => {
      const toEnd = await world.start()
      const toGiveBack = await world.start()
      const toCancel = world.newRun()
      await world.submit(toCancel)
      const fresh = world.newRun({ rank: -1 })
      const assigned = world.newRun({ reservation: world.reservation(3) })
      const result = await world.tick({
        submits: [fresh, assigned],
        ends: [
          endCommandFor(toEnd, { result: '"done"' }),
          endCommandFor(toGiveBack, { to: 'given_back' }),
        ],
        cancels: [{ runId: toCancel.id, projectId: world.project }],
        claims: [world.demand(9)],
      })
      assert.deepEqual(result.submits, [{ kind: 'inserted' }, { kind: 'inserted' }])
      assert.deepEqual(result.ends, ['ended', 'ended'])
      assert.deepEqual(result.cancels, [{ kind: 'cancelled' }])
      assert.deepEqual(runIds(only(result.claims)), [fresh.id, toGiveBack.runId])
      assert.ok(at(only(result.claims), 1).fence > toGiveBack.fence)
      const counts = await world.store.liveCounts()
      assert.deepEqual(counts, { ready: 0, scheduled: 0, blocked: 0, running: 3 })
    }),
  )

  test(
    'one tick may contain the repeated submission of a run and the end of that run',
    inWorld(async (world) => {
      const run = world.newRun({ reservation: world.reservation() })
      const held = { runId: run.id, fence: run.reservation?.fence as number }
      await world.submit(run)
      // The answer was lost: the node repeats the submission while the worker already reports.
      const result = await world.tick({ submits: [run], ends: [endCommandFor(held)] })
      assert.deepEqual([result.submits, result.ends], [[{ kind: 'exists' }], ['ended']])
    }),
  )

  test(
    'ending one run frees its gate and key for another submitted in the same tick',
    inWorld(async (world) => {
      const gates = [await world.gate('door', 1)]
      const lease = await world.start({ gates })
      const next = world.newRun({ gates })
      const batch = { submits: [next], ends: [endCommandFor(lease)], claims: [world.demand(1)] }
      assert.deepEqual(runIds(only((await world.tick(batch)).claims)), [next.id])
    }),
  )

  test(
    'a full batch of every kind succeeds in one tick',
    inWorld(async (world) => {
      const size = Math.floor(world.store.tickCap / 2)
      const [toEnd, toCancel] = [world.newRuns(size), world.newRuns(size)]
      await world.submit(...toEnd)
      const leases = await world.claim(size)
      assert.equal(leases.length, size)
      await world.submit(...toCancel)
      const result = await world.tick({
        submits: world.newRuns(size),
        ends: leases.map((lease) => endCommandFor(lease)),
        cancels: toCancel.map(({ id }) => ({ runId: id, projectId: world.project })),
        claims: [world.demand(size)],
      })
      assert.equal(result.ends.filter((verdict) => verdict === 'ended').length, size)
      assert.equal(result.cancels.filter(({ kind }) => kind === 'cancelled').length, size)
      assert.equal(only(result.claims).length, size)
    }),
  )

  for (const [why, poison] of POISON) {
    test(
      `${why} refuses the whole tick and leaves no trace of it`,
      inWorld(async (world) => {
        const toEnd = await world.start()
        const toCancel = world.newRun()
        await world.submit(toCancel)
        const good = world.newRun({ dedupeKey: 'k' })
        const batch: Omit<TickBatch, 'node'> = {
          submits: [good],
          ends: [endCommandFor(toEnd)],
          cancels: [{ runId: toCancel.id, projectId: world.project }],
          claims: [world.demand(1)],
        }
        const before = await world.list()
        const poisoned = { ...batch, submits: [good, world.newRun(poison(world))] }
        await assert.rejects(world.tick(poisoned), isRefused)
        assert.deepEqual(await world.list(), before)
        // The same batch succeeds without the poison item.
        const result = await world.tick(batch)
        assert.deepEqual(result.submits, [{ kind: 'inserted' }])
        assert.deepEqual(result.ends, ['ended'])
        assert.deepEqual(result.cancels, [{ kind: 'cancelled' }])
        assert.deepEqual(runIds(only(result.claims)), [good.id])
      }),
    )
  }

  test(
    'a refused tick leaves no unhandled rejection',
    inWorld(async (world) => {
      const stray: unknown[] = []
      const note = (reason: unknown) => stray.push(reason)
      process.on('unhandledRejection', note)
      try {
        const lease = await world.start()
        const submits = POISON.map(([, poison]) => world.newRun(poison(world)))
        const ends = [endCommandFor(lease, { to: 'retry', cause: 'error', delayMs: 0.5 })]
        for (const run of submits) {
          const batch = { submits: [run], ends: [endCommandFor(lease)], claims: [world.demand(1)] }
          await assert.rejects(world.tick(batch), isRefused)
        }
        await assert.rejects(world.tick({ submits: world.newRuns(1), ends }), isRefused)
        // Unhandled rejections are reported once the microtasks have run.
        await nextTurn()
      } finally {
        process.off('unhandledRejection', note)
      }
      assert.deepEqual(stray, [])
    }),
  )

  test(
    'a poisoned end is refused and the attempt continues',
    inWorld(async (world) => {
      const lease = await world.start()
      const ends = [endCommandFor(lease, { to: 'retry', cause: 'error', delayMs: 0.5 })]
      await assert.rejects(world.tick({ submits: world.newRuns(2), ends }), isRefused)
      assert.deepEqual(
        (await world.list()).map(({ state }) => state),
        ['running'],
      )
    }),
  )
}

function isRefused(error: unknown): boolean {
  return error instanceof StoreError && error.outcome === 'refused'
}
