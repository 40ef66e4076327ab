import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimNoOf } from '../../../core/run/fence.ts'
import type { Cause, RunState } from '../../../core/run/run-state.ts'
import type { EndCommand } from '../../port.ts'
import { at, endCommandFor, HOUR_MS, only, runIds } from '../fixture.ts'
import { adoptInto } from '../sessions/session-binding.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

interface EndCase {
  readonly why: string
  readonly marked?: boolean
  readonly end: Partial<EndCommand>
  readonly state: RunState
  readonly attempt?: number
  readonly lost?: number
  readonly cause?: Cause | null
}

const CASES: readonly EndCase[] = [
  { why: 'a success ends the run', end: {}, state: 'succeeded', cause: null },
  {
    why: 'a failure ends the run with its cause',
    end: { to: 'failed', cause: 'exit' },
    state: 'failed',
    cause: 'exit',
  },
  {
    why: 'a cancelled attempt ends the run',
    end: { to: 'cancelled', cause: 'cancelled' },
    state: 'cancelled',
    cause: 'cancelled',
  },
  {
    why: 'a retry with a delay waits for it, with the next attempt number',
    end: { to: 'retry', cause: 'error', delayMs: 1 },
    state: 'scheduled',
    attempt: 2,
  },
  {
    why: 'a retry without a delay is ready, with the next attempt number',
    end: { to: 'retry', cause: 'lost', delayMs: 0, lost: 1 },
    state: 'ready',
    attempt: 2,
    lost: 1,
  },
  {
    why: 'an attempt given back is ready and does not count',
    end: { to: 'given_back' },
    state: 'ready',
    attempt: 1,
  },
  { why: 'success wins over a cancel mark', marked: true, end: {}, state: 'succeeded' },
  {
    why: 'a failure under a cancel mark does not end as failed',
    marked: true,
    end: { to: 'failed', cause: 'signal' },
    state: 'cancelled',
  },
  {
    why: 'a run under a cancel mark is not retried later',
    marked: true,
    end: { to: 'retry', cause: 'error', delayMs: 60_000 },
    state: 'cancelled',
    attempt: 1,
  },
  {
    why: 'a run under a cancel mark is not retried at once',
    marked: true,
    end: { to: 'retry', cause: 'lost', delayMs: 0, lost: 1 },
    state: 'cancelled',
    attempt: 1,
  },
  {
    why: 'a run under a cancel mark is not given back',
    marked: true,
    end: { to: 'given_back' },
    state: 'cancelled',
    attempt: 1,
  },
]

interface RefusedCase {
  readonly why: string
  readonly end: (world: StoreWorld, held: { runId: number; fence: number }) => EndCommand
}

const REFUSED: readonly RefusedCase[] = [
  {
    why: 'a fence that is one too high',
    end: (_, held) => endCommandFor({ ...held, fence: held.fence + 1 }),
  },
  {
    why: 'a fence that is one too low',
    end: (_, held) => endCommandFor({ ...held, fence: held.fence - 1 }),
  },
  { why: 'fence zero', end: (_, held) => endCommandFor({ ...held, fence: 0 }) },
  {
    why: 'a run that never existed',
    end: (world, held) => endCommandFor({ ...held, runId: world.mint() }),
  },
  {
    why: 'an owner that does not hold the lease',
    end: (world, held) => endCommandFor(held, { owner: world.node + 1 }),
  },
]

export function endContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  for (const row of CASES) {
    const { why, marked = false, end, state, attempt = 1, lost = 0 } = row
    test(
      why,
      inWorld(async (world) => {
        const lease = await world.start()
        if (marked) await world.cancel(lease.runId)
        assert.equal(await world.end(lease, end), 'ended')
        const record = await world.find(lease.runId)
        assert.deepEqual([record.state, record.attempt, record.lost], [state, attempt, lost])
        if (row.cause !== undefined) assert.equal(record.cause, row.cause)
        const { node } = world
        assert.deepEqual(await world.store.ownLeases({ node, after: 0, limit: 9 }), [])
      }),
    )
  }

  for (const { why, end } of REFUSED) {
    test(
      `${why} ends nothing`,
      inWorld(async (world) => {
        const lease = await world.start()
        assert.deepEqual((await world.tick({ ends: [end(world, lease)] })).ends, ['stale'])
        assert.equal(await world.stateOf(lease.runId), 'running')
        assert.equal(await world.end(lease, { owner: world.node }), 'ended')
      }),
    )
  }

  test(
    'an ended attempt reported again is accepted again and changes nothing',
    inWorld(async (world) => {
      const lease = await world.start()
      await world.end(lease, { result: '1', worker: 'w1' })
      const before = await world.find(lease.runId)
      world.clock.advance(HOUR_MS)
      assert.equal(await world.end(lease, { result: '2', worker: 'w2' }), 'replayed')
      assert.equal(await world.end(lease, { to: 'failed', cause: 'exit' }), 'stale')
      assert.deepEqual(await world.find(lease.runId), before)
    }),
  )

  test(
    'an attempt that its worker did not report itself keeps the name of that worker',
    inWorld(async (world) => {
      const { node } = world
      const [first, second, third] = [world.mint(), world.mint(), world.mint()]
      for (const [session, name] of [[first, 'w1'] as const, [second, 'w2'] as const]) {
        await adoptInto(world.store, { node, session, name })
      }
      await world.submit(world.newRun())
      const lost = only(await world.claim(1, { session: first }))
      await world.end(lost, { to: 'retry', cause: 'lost', delayMs: 0, lost: 1, worker: null })
      const again = only(await world.claim(1, { session: second }))
      await world.end(again, { to: 'failed', cause: 'timeout', worker: null })
      const [attempt] = await world.store.attemptsOf({ runId: lost.runId })
      assert.deepEqual([attempt?.attempt, attempt?.cause, attempt?.worker], [1, 'lost', 'w1'])
      assert.equal((await world.find(lost.runId)).worker, 'w2')
      // A session without a row has no name.
      await world.submit(world.newRun())
      const unknown = only(await world.claim(1, { session: third }))
      await world.end(unknown, { to: 'failed', cause: 'lost', worker: null })
      assert.equal((await world.find(unknown.runId)).worker, null)
    }),
  )

  test(
    'a repeated report of a retried attempt is a replay, whatever state the run is in',
    inWorld(async (world) => {
      const first = await world.start()
      const retry = { to: 'retry', cause: 'error', delayMs: 1_000 } as const
      await world.end(first, retry)
      assert.equal(await world.end(first, retry), 'replayed')
      world.clock.advance(1_000)
      await world.store.promote({ positions: [world.mint()] })
      assert.equal(await world.end(first, retry), 'replayed')
      const second = only(await world.claim(1))
      assert.equal(await world.end(first, retry), 'replayed')
      assert.equal(await world.end(first), 'stale', 'it failed; a late success is not a repeat')
      assert.equal(await world.stateOf(first.runId), 'running')
      await world.end(second)
      assert.equal(await world.end(first, retry), 'replayed')
      assert.equal(await world.end(second), 'replayed')
      assert.equal(await world.stateOf(first.runId), 'succeeded')
    }),
  )

  test(
    'a run that was given back cannot be given back again, nor ended, with that fence',
    inWorld(async (world) => {
      const first = await world.start()
      await world.end(first, { to: 'given_back' })
      assert.equal(await world.end(first, { to: 'given_back' }), 'stale')
      assert.equal(await world.end(first), 'stale')
      const second = only(await world.claim(1))
      assert.equal(await world.end(first), 'stale')
      assert.equal(await world.end(second), 'ended')
      assert.equal(await world.end(first), 'stale')
    }),
  )

  test(
    'the same end twice in one batch is applied once',
    inWorld(async (world) => {
      const lease = await world.start()
      const { ends } = await world.tick({ ends: [endCommandFor(lease), endCommandFor(lease)] })
      assert.deepEqual(ends, ['ended', 'replayed'])
    }),
  )

  test(
    'of two ends of one attempt in one batch, the first valid one applies',
    inWorld(async (world) => {
      const lease = await world.start()
      const noticed = endCommandFor(lease, {
        to: 'retry',
        cause: 'lost',
        lost: 1,
        owner: world.node + 1,
      })
      const reported = endCommandFor(lease, { result: '"kept"' })
      const { ends } = await world.tick({ ends: [noticed, reported, reported] })
      assert.deepEqual(ends, ['stale', 'ended', 'replayed'])
      assert.equal((await world.find(lease.runId)).result, '"kept"')
    }),
  )

  test(
    'fences of a run only grow, attempts count as reported',
    inWorld(async (world) => {
      let lease = await world.start()
      const story: [end: Partial<EndCommand>, attempt: number, lost: number][] = [
        [{ to: 'given_back' }, 1, 0],
        [{ to: 'retry', cause: 'lost', lost: 1 }, 2, 1],
        [{ to: 'given_back', lost: 1 }, 2, 1],
        [{ to: 'retry', cause: 'exit', lost: 1 }, 3, 1],
        [{ to: 'retry', cause: 'lost', lost: 2 }, 4, 2],
      ]
      for (const [end, attempt, lost] of story) {
        await world.end(lease, end)
        const next = only(await world.claim(1))
        assert.deepEqual([next.attempt, next.lost], [attempt, lost])
        assert.equal(claimNoOf(next.fence), claimNoOf(lease.fence) + 1)
        assert.ok(next.fence > lease.fence)
        lease = next
      }
    }),
  )

  test(
    'an immediate retry gets the given position, a give-back keeps its own age',
    inWorld(async (world) => {
      const [oldest, older, young] = world.newRuns(3)
      assert.ok(oldest && older && young)
      await world.submit(oldest, older)
      const [first, second] = await world.claim(2)
      assert.ok(first && second)
      await world.submit(young)
      const retry = endCommandFor(first, { to: 'retry', cause: 'lost', lost: 1, pos: world.mint() })
      const { refilled } = await world.tick({
        ends: [retry, endCommandFor(second, { to: 'given_back', pos: world.mint() })],
      })
      assert.deepEqual(refilled, [world.lane])
      const leases = await world.claim(5)
      assert.deepEqual(runIds(leases), [older.id, young.id, oldest.id])
      assert.deepEqual([at(leases, 0).pos, at(leases, 2).pos], [older.id, retry.pos])
    }),
  )

  test(
    'a retried run that is given back has its own age again',
    inWorld(async (world) => {
      const lease = await world.start()
      await world.end(lease, { to: 'retry', cause: 'lost', lost: 1, pos: world.mint() })
      const again = only(await world.claim(1))
      await world.submit(world.newRun())
      await world.end(again, { to: 'given_back', lost: 1, pos: world.mint() })
      const [first] = await world.claim(1)
      assert.deepEqual([first?.runId, first?.pos], [lease.runId, lease.runId])
    }),
  )

  test(
    'the tick returns the time of the retry it wrote',
    inWorld(async (world) => {
      const lease = await world.start()
      const ends = [endCommandFor(lease, { to: 'retry', cause: 'error', delayMs: 7_250 })]
      const result = await world.tick({ ends })
      assert.equal(result.nextDueAt, world.clock.now() + 7_250)
      assert.deepEqual(result.refilled, [])
    }),
  )

  test(
    'an end by the owning node is refused once the lease has moved to another node',
    inWorld(async (world) => {
      const lease = await world.start()
      const successor = await world.join('successor')
      const { runId, fence, session } = lease
      const held = [{ runId, fence }]
      await adoptInto(world.store, { node: successor.node, session, held })
      const end = { to: 'failed', cause: 'lost' } as const
      assert.equal(await world.end(lease, { ...end, owner: world.node }), 'stale')
      assert.equal(await world.stateOf(runId), 'running')
      assert.equal(await world.end(lease, { ...end, owner: successor.node }), 'ended')
    }),
  )
}
