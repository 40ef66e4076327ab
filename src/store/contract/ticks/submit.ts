import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimNoOf } from '../../../core/run/fence.ts'
import type { RunState } from '../../../core/run/run-state.ts'
import type { NewRun } from '../../port.ts'
import { at, endCommandFor, HOUR_MS, ids, only } from '../fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

interface Landing {
  readonly why: string
  readonly run: (world: StoreWorld) => Partial<NewRun> | Promise<Partial<NewRun>>
  readonly state: RunState
}

const LANDINGS: readonly Landing[] = [
  { why: 'a run without a time is ready', run: () => ({}), state: 'ready' },
  {
    why: 'a run whose time has passed is ready',
    run: ({ clock }) => ({ dueAt: clock.now() - HOUR_MS }),
    state: 'ready',
  },
  {
    why: 'a run due this very millisecond is ready',
    run: ({ clock }) => ({ dueAt: clock.now() }),
    state: 'ready',
  },
  {
    why: 'a run due a millisecond from now is not ready yet',
    run: ({ clock }) => ({ dueAt: clock.now() + 1 }),
    state: 'scheduled',
  },
  {
    why: 'a gated run is ready in the same tick if a slot is free',
    run: async (world) => ({ gates: [await world.gate('door', 1)] }),
    state: 'ready',
  },
  {
    why: 'a gated run is not ready if no slot is free',
    run: async (world) => ({ gates: [await fullGate(world)] }),
    state: 'blocked',
  },
  {
    why: 'a gated run due later does not wait at its gate yet',
    run: async (world) => ({ gates: [await fullGate(world)], dueAt: world.clock.now() + HOUR_MS }),
    state: 'scheduled',
  },
  {
    why: 'a run with a reservation is running at once',
    run: ({ reservation }) => ({ reservation: reservation() }),
    state: 'running',
  },
  {
    why: 'a run with a reservation runs at once when its gate has a free slot',
    run: async (world) => ({
      gates: [await world.gate('door', 1)],
      reservation: world.reservation(),
    }),
    state: 'running',
  },
  {
    why: 'a run with a reservation still waits at a full gate',
    run: async (world) => ({ gates: [await fullGate(world)], reservation: world.reservation() }),
    state: 'blocked',
  },
]

async function fullGate(world: StoreWorld): Promise<number> {
  const gate = await world.gate('door', 1)
  await world.submit(world.newRun({ gates: [gate] }))
  return gate
}

export function submitContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  for (const { why, run, state } of LANDINGS) {
    test(
      why,
      inWorld(async (world) => {
        const submitted = world.newRun(await run(world))
        const kind = state === 'blocked' ? 'gated' : 'inserted'
        assert.deepEqual(await world.submit(submitted), [{ kind }])
        const record = await world.find(submitted.id)
        assert.equal(record.state, state)
        assert.equal(record.attempt, 1)
        assert.equal(record.lost, 0)
      }),
    )
  }

  test(
    'a direct assignment is the first claim of the first attempt, for that session only',
    inWorld(async (world) => {
      const run = world.newRun({
        reservation: world.reservation(7),
        input: '{"n":1}',
        timeoutMs: 5_000,
      })
      await world.submit(run)
      const lease = only(await world.store.ownLeases({ node: world.node, after: 0, limit: 10 }))
      assert.deepEqual(
        [lease.runId, lease.fence, lease.session, lease.node, lease.attempt, lease.lost],
        [run.id, run.reservation?.fence, 7, world.node, 1, 0],
      )
      assert.deepEqual([lease.input, lease.timeoutMs, lease.cancelling], ['{"n":1}', 5_000, false])
      assert.equal(claimNoOf(lease.fence), 1)
      assert.deepEqual(await world.claim(5), [])
    }),
  )

  test(
    'a fresh submission refills no lane and sets no timer',
    inWorld(async (world) => {
      const result = await world.tick({ submits: world.newRuns(3) })
      assert.deepEqual(result.refilled, [])
      assert.equal(result.nextDueAt, null)
      assert.equal(result.now, world.clock.now())
    }),
  )

  test(
    'a tick returns the earliest time it wrote, not the earliest there is',
    inWorld(async (world) => {
      const now = world.clock.now()
      await world.submit(world.newRun({ dueAt: now + 1_000 }))
      const submits = [5_000, 3_000, 9_000].map((ms) => world.newRun({ dueAt: now + ms }))
      assert.equal((await world.tick({ submits })).nextDueAt, now + 3_000)
    }),
  )

  test(
    'a repeated id by the same node is success and changes nothing',
    inWorld(async (world) => {
      const run = world.newRun({ input: '"first"' })
      await world.submit(run)
      const again = { ...run, input: '"second"', dueAt: world.clock.now() + HOUR_MS }
      assert.deepEqual(await world.submit(again), [{ kind: 'exists' }])
      assert.deepEqual(await world.submit(run, again), [{ kind: 'exists' }, { kind: 'exists' }])
      const record = await world.find(run.id)
      assert.deepEqual([record.input, record.state], ['"first"', 'ready'])
      assert.equal((await world.claim(5)).length, 1)
    }),
  )

  test(
    'a repeated id does not bring back a run that is running or has ended',
    inWorld(async (world) => {
      const run = world.newRun({ reservation: world.reservation() })
      await world.submit(run)
      assert.deepEqual(await world.submit(run), [{ kind: 'exists' }])
      assert.equal(await world.stateOf(run.id), 'running')
      await world.end({ runId: run.id, fence: run.reservation?.fence as number })
      assert.deepEqual(await world.submit(run), [{ kind: 'exists' }])
      assert.equal(await world.stateOf(run.id), 'succeeded')
      assert.deepEqual(await world.claim(5), [])
    }),
  )

  test(
    'a repeat inside one batch is inserted once',
    inWorld(async (world) => {
      const run = world.newRun()
      assert.deepEqual(await world.submit(run, run), [{ kind: 'inserted' }, { kind: 'exists' }])
      assert.equal((await world.list()).length, 1)
    }),
  )

  test(
    'an id that another node has used is a collision and writes nothing',
    inWorld(async (world) => {
      const run = world.newRun({ input: '"mine"' })
      await world.submit(run)
      const other = await world.join('other')
      const theirs = { ...run, input: '"theirs"', dedupeKey: 'k' }
      const fresh = world.newRun()
      const { submits } = await world.tick({ node: other.node, submits: [theirs, fresh] })
      assert.deepEqual(submits, [{ kind: 'collision' }, { kind: 'inserted' }])
      assert.equal((await world.find(run.id)).input, '"mine"')
      // Had the collision kept its key, this would be a duplicate.
      assert.deepEqual(await world.submit(world.newRun({ dedupeKey: 'k' })), [{ kind: 'inserted' }])
    }),
  )

  test(
    'verdicts come in the order of the submissions',
    inWorld(async (world) => {
      const known = world.newRun({ dedupeKey: 'taken' })
      await world.submit(known)
      const fresh = world.newRuns(2)
      const verdicts = await world.submit(
        at(fresh, 1),
        world.newRun({ dedupeKey: 'taken' }),
        known,
        at(fresh, 0),
      )
      assert.deepEqual(verdicts, [
        { kind: 'inserted' },
        { kind: 'duplicate', id: known.id },
        { kind: 'exists' },
        { kind: 'inserted' },
      ])
    }),
  )

  test(
    'a directly assigned run and a queued one, submitted together, both go where they should',
    inWorld(async (world) => {
      const [assigned, queued] = [
        world.newRun({ reservation: world.reservation() }),
        world.newRun(),
      ]
      await world.submit(assigned, queued)
      assert.deepEqual(
        (await world.claim(5)).map(({ runId }) => runId),
        [queued.id],
      )
      const end = endCommandFor({
        runId: assigned.id,
        fence: assigned.reservation?.fence as number,
      })
      assert.deepEqual((await world.tick({ ends: [end] })).ends, ['ended'])
    }),
  )

  test(
    'a tick of the maximum size stores all its runs',
    inWorld(async (world) => {
      const runs = world.newRuns(world.store.tickCap)
      const verdicts = await world.submit(...runs)
      assert.equal(verdicts.filter(({ kind }) => kind === 'inserted').length, runs.length)
      assert.deepEqual(ids(await world.list()), ids(runs).toReversed())
    }),
  )
}
