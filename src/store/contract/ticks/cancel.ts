import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CancelVerdict, NewRun } from '../../port.ts'
import { at, endCommandFor, HOUR_MS, only, runIds } from '../fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

interface WaitingCase {
  readonly why: string
  readonly run: (world: StoreWorld) => Partial<NewRun> | Promise<Partial<NewRun>>
}

const WAITING: readonly WaitingCase[] = [
  { why: 'a ready run', run: () => ({}) },
  { why: 'a scheduled run', run: ({ clock }) => ({ dueAt: clock.now() + HOUR_MS }) },
  {
    why: 'a blocked run',
    run: async (world) => {
      const gate = await world.gate('door', 1)
      await world.submit(world.newRun({ gates: [gate] }))
      return { gates: [gate] }
    },
  },
]

interface EndedCase {
  readonly why: string
  readonly to: 'succeeded' | 'failed' | 'cancelled'
}

const ENDED: readonly EndedCase[] = [
  { why: 'a run that succeeded is not cancelled', to: 'succeeded' },
  { why: 'a run that failed is not cancelled', to: 'failed' },
  { why: 'a run that was cancelled is not cancelled again', to: 'cancelled' },
]

export function cancelContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  for (const { why, run } of WAITING) {
    test(
      `${why} is cancelled and final at once`,
      inWorld(async (world) => {
        const waiting = world.newRun({ ...(await run(world)), dedupeKey: 'k' })
        await world.submit(waiting)
        assert.deepEqual(await world.cancel(waiting.id), { kind: 'cancelled' })
        const record = await world.find(waiting.id)
        assert.deepEqual([record.state, record.attempt], ['cancelled', 1])
        assert.equal(record.finishedAt, world.clock.now())
        assert.equal(record.startedAt, null)
        assert.deepEqual(await world.cancel(waiting.id), { kind: 'final', state: 'cancelled' })
        // Neither a sweep nor a claim finds it again, and its key is free.
        world.clock.advance(2 * HOUR_MS)
        await world.store.promote({ positions: [world.mint()] })
        await world.store.recheck({ limit: 10, recheckMs: 1_000 })
        assert.ok(!runIds(await world.claim(5)).includes(waiting.id))
        assert.deepEqual(await world.submit(world.newRun({ dedupeKey: 'k' })), [
          { kind: 'inserted' },
        ])
      }),
    )
  }

  for (const { why, to } of ENDED) {
    test(
      why,
      inWorld(async (world) => {
        const lease = await world.start()
        await world.end(lease, { to, cause: to === 'succeeded' ? null : 'exit' })
        const before = await world.find(lease.runId)
        assert.deepEqual(await world.cancel(lease.runId), { kind: 'final', state: to })
        assert.deepEqual(await world.find(lease.runId), before)
      }),
    )
  }

  test(
    'a running run is marked, keeps running and names the node that owns it',
    inWorld(async (world) => {
      const lease = await world.start()
      const marked: CancelVerdict = { kind: 'marked', node: world.node }
      assert.deepEqual(await world.cancel(lease.runId), marked)
      assert.deepEqual(await world.cancel(lease.runId), marked)
      const record = await world.find(lease.runId)
      assert.deepEqual([record.state, record.cancelling], ['running', true])
      assert.deepEqual(await world.store.cancelMarks({ node: world.node }), [lease.runId])
      assert.deepEqual(await world.store.cancelMarks({ node: world.node + 1 }), [])
      const own = only(await world.store.ownLeases({ node: world.node, after: 0, limit: 5 }))
      assert.equal(own.cancelling, true)
    }),
  )

  test(
    'a mark is deleted with the attempt it was on',
    inWorld(async (world) => {
      const lease = await world.start()
      await world.cancel(lease.runId)
      await world.end(lease, { to: 'cancelled', cause: 'cancelled' })
      assert.deepEqual(await world.store.cancelMarks({ node: world.node }), [])
      assert.equal((await world.find(lease.runId)).cancelling, false)
    }),
  )

  test(
    'a run of another project is unknown and untouched',
    inWorld(async (world) => {
      const waiting = world.newRun()
      await world.submit(waiting)
      assert.deepEqual(await world.cancel(waiting.id, world.otherProject), { kind: 'unknown' })
      const lease = only(await world.claim(1))
      assert.deepEqual(await world.cancel(waiting.id, world.otherProject), { kind: 'unknown' })
      assert.equal((await world.find(waiting.id)).cancelling, false)
      await world.end(lease)
      assert.deepEqual(await world.cancel(waiting.id, world.otherProject), { kind: 'unknown' })
      assert.deepEqual(await world.cancel(world.mint()), { kind: 'unknown' })
    }),
  )

  test(
    'a run waiting for its retry is cancelled with the number of the next attempt',
    inWorld(async (world) => {
      const lease = await world.start()
      await world.end(lease, { to: 'retry', cause: 'error', delayMs: 60_000 })
      assert.deepEqual(await world.cancel(lease.runId), { kind: 'cancelled' })
      assert.equal(await world.stateOf(lease.runId), 'cancelled')
      assert.equal(await world.end(lease, { to: 'retry', cause: 'error' }), 'replayed')
    }),
  )

  test(
    'cancelling the run at a gate admits the next one in the same tick',
    inWorld(async (world) => {
      const gates = [await world.gate('door', 1)]
      const [first, second, third] = world.newRuns(3, { gates })
      assert.ok(first && second && third)
      await world.submit(first, second, third)
      const cancels = [{ runId: first.id, projectId: world.project }]
      const result = await world.tick({ cancels, claims: [world.demand(3)] })
      assert.deepEqual(runIds(at(result.claims, 0)), [second.id])
      assert.equal(await world.stateOf(third.id), 'blocked')
    }),
  )

  test(
    'cancelling a run that only waits at a gate frees nothing',
    inWorld(async (world) => {
      const gates = [await world.gate('door', 1)]
      const [first, second, third] = world.newRuns(3, { gates })
      assert.ok(first && second && third)
      await world.submit(first, second, third)
      await world.cancel(second.id)
      assert.equal(await world.stateOf(third.id), 'blocked')
    }),
  )

  test(
    'an end and a cancel in one tick: the end comes first',
    inWorld(async (world) => {
      const lease = await world.start()
      const cancels = [{ runId: lease.runId, projectId: world.project }]
      const result = await world.tick({ ends: [endCommandFor(lease)], cancels })
      assert.deepEqual(result.ends, ['ended'])
      assert.deepEqual(result.cancels, [{ kind: 'final', state: 'succeeded' }])
    }),
  )

  test(
    'a submission and its cancel in one tick: the run never starts',
    inWorld(async (world) => {
      const run = world.newRun()
      const cancels = [
        { runId: run.id, projectId: world.project },
        { runId: run.id, projectId: world.project },
      ]
      const result = await world.tick({ submits: [run], cancels, claims: [world.demand(1)] })
      assert.deepEqual(result.cancels, [
        { kind: 'cancelled' },
        { kind: 'final', state: 'cancelled' },
      ])
      assert.deepEqual(result.claims, [[]])
    }),
  )

  test(
    'a run that is directly assigned and cancelled in one tick is marked',
    inWorld(async (world) => {
      const run = world.newRun({ reservation: world.reservation() })
      const cancels = [{ runId: run.id, projectId: world.project }]
      const result = await world.tick({ submits: [run], cancels })
      assert.deepEqual(result.cancels, [{ kind: 'marked', node: world.node }])
    }),
  )
}
