import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { claimNoOf, fenceOf } from '../../../core/run/fence.ts'
import type { EndCommand, LanePosition, NewRun } from '../../port.ts'
import { at, ids, only, runIds } from '../fixture.ts'
import { onSharedStore, type OpenStore } from '../world.ts'

const byPlace = (a: LanePosition, b: LanePosition) => a.rank - b.rank || a.pos - b.pos

export function claimContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'a lane is claimed in exact order of rank and age, whatever order it was filled in',
    inWorld(async (world) => {
      const rank = fc.integer({ min: -10, max: 10 })
      const filling = fc.array(rank, { minLength: 1, maxLength: 30 })
      let lanes = 0
      await fc.assert(
        fc.asyncProperty(filling, fc.integer({ min: 1, max: 7 }), async (ranks, batch) => {
          const laneId = await world.internLane(`order-${(lanes += 1)}`)
          const runs = ranks.map((value) => world.newRun({ laneId, rank: value }))
          await world.submit(...runs.toReversed())
          const claimed: number[] = []
          while (claimed.length < runs.length) {
            const leases = await world.claim(batch, { laneId })
            assert.equal(leases.length, Math.min(batch, runs.length - claimed.length))
            claimed.push(...runIds(leases))
          }
          assert.deepEqual(
            claimed,
            ids(runs.toSorted((a, b) => byPlace(positionOf(a), positionOf(b)))),
          )
        }),
        { numRuns: 15 },
      )
    }),
  )

  test(
    'lane heads are the runs that would be claimed first, with the depth of the lane up to a maximum',
    inWorld(async (world) => {
      const [deep, urgent, empty] = [
        await world.internLane('deep'),
        await world.internLane('urgent'),
        await world.internLane('empty'),
      ]
      const [first, ...others] = world.newRuns(3, { laneId: deep })
      const calm = world.newRun({ laneId: urgent })
      const hurried = world.newRun({ laneId: urgent, rank: -5 })
      const later = world.newRun({ laneId: empty, dueAt: world.clock.now() + 1_000 })
      await world.submit(first as NewRun, ...others, calm, hurried, later)
      const mine = new Set([deep, urgent, empty])
      const heads = (await world.store.laneHeads({ maxCount: 2 })).filter(({ laneId }) =>
        mine.has(laneId),
      )
      assert.deepEqual(
        heads.toSorted((a, b) => a.laneId - b.laneId),
        [
          { laneId: deep, rank: 0, pos: first?.id, depth: 2 },
          { laneId: urgent, rank: -5, pos: hurried.id, depth: 2 },
        ],
      )
    }),
  )

  test(
    'sessions get runs in the order of the demands, and fences contain the salts of the sessions',
    inWorld(async (world) => {
      await world.submit(...world.newRuns(4))
      const demand = {
        ...world.demand(0, { sessions: [9, 4, 9, 5] }),
        salts: [1, 0, 2 ** 20 - 1, 7],
      }
      const leases = only((await world.tick({ claims: [demand] })).claims)
      assert.deepEqual(
        leases.map(({ session }) => session),
        [9, 4, 9, 5],
      )
      assert.deepEqual(
        leases.map(({ fence }) => fence),
        demand.salts.map((salt) => fenceOf(1, salt)),
      )
    }),
  )

  test(
    'a run that failed is assigned to another session than before, if the demand names one',
    inWorld(async (world) => {
      const [bad, good] = [world.mint(), world.mint()]
      const failOn = async (session: number, how: Partial<EndCommand>) => {
        const run = world.newRun()
        await world.submit(run)
        const lease = only(await world.claim(1, { session }))
        await world.end(lease, { to: 'retry', cause: 'error', pos: world.mint(), ...how })
        return run.id
      }
      const next = async (sessions: readonly number[]) =>
        (await world.claim(0, { sessions })).map(({ runId, session }) => [runId, session])

      const once = await failOn(bad, {})
      assert.deepEqual(await next([bad, bad, good]), [[once, good]])
      const mirrored = await failOn(bad, { cause: 'lost' })
      assert.deepEqual(await next([good, bad, bad]), [[mirrored, good]])
      const alone = await failOn(bad, {})
      assert.deepEqual(
        await next([bad, bad]),
        [[alone, bad]],
        'without another worker, the run does not wait',
      )

      const [first, failed] = [world.newRun(), await failOn(bad, {})]
      await world.submit(first)
      assert.deepEqual(await next([bad, good]), [
        [first.id, bad],
        [failed, good],
      ])

      const later = await failOn(bad, { delayMs: 1_000 })
      world.clock.advance(1_000)
      await world.store.promote({ positions: [world.mint()] })
      assert.deepEqual(await next([bad, good]), [[later, good]])
    }),
  )

  test(
    'a lane with too few runs serves the first sessions first, and never takes runs of another lane',
    inWorld(async (world) => {
      const other = await world.internLane('other')
      await world.submit(...world.newRuns(2), ...world.newRuns(3, { laneId: other }))
      const leases = await world.claim(0, { sessions: [1, 2, 3, 4] })
      assert.deepEqual(
        leases.map(({ session, laneId }) => [session, laneId]),
        [
          [1, world.lane],
          [2, world.lane],
        ],
      )
      assert.deepEqual(await world.claim(4), [])
      assert.equal((await world.claim(4, { laneId: other })).length, 3)
    }),
  )

  test(
    'demands on several lanes are answered one by one, in their order',
    inWorld(async (world) => {
      const lanes = [world.lane]
      for (const queue of ['b', 'c', 'd']) lanes.push(await world.internLane(queue))
      const runs = lanes.map((laneId) => world.newRun({ laneId }))
      await world.submit(...runs.slice(0, 3))
      const claims = lanes.toReversed().map((laneId) => world.demand(2, { laneId }))
      const answers = (await world.tick({ claims })).claims.map(runIds)
      assert.deepEqual(answers, [
        [],
        ...runs
          .slice(0, 3)
          .toReversed()
          .map(({ id }) => [id]),
      ])
    }),
  )

  test(
    'two demands on one lane share it without overlap',
    inWorld(async (world) => {
      const runs = world.newRuns(5)
      await world.submit(...runs)
      const claims = [world.demand(2, { session: 1 }), world.demand(9, { session: 2 })]
      const answers = (await world.tick({ claims })).claims
      assert.deepEqual(runIds(answers.flat()), ids(runs))
      assert.deepEqual(
        answers.map((leases) => leases.length),
        [2, 3],
      )
    }),
  )

  test(
    'an unknown lane and an empty demand return no leases',
    inWorld(async (world) => {
      await world.submit(world.newRun())
      const claims = [world.demand(3, { laneId: world.lane + 1_000 }), world.demand(0)]
      assert.deepEqual((await world.tick({ claims })).claims, [[], []])
      assert.equal((await world.store.liveCounts()).ready, 1)
    }),
  )

  test(
    'a floor skips everything up to that position and nothing beyond; no floor scans the whole lane',
    inWorld(async (world) => {
      // The last run in the lane is the oldest: a position is a pair of rank and pos, not two bounds.
      const last = world.newRun({ rank: 3 })
      const runs = [...[-1, -1, 0, 0, 0].map((rank) => world.newRun({ rank })), last]
      await world.submit(...runs)
      const floor = positionOf(at(runs, 3))
      assert.deepEqual(runIds(await world.claim(9, { floor })), ids(runs.slice(4)))
      assert.deepEqual(await world.claim(9, { floor }), [])
      assert.deepEqual(runIds(await world.claim(9, { floor: null })), ids(runs.slice(0, 4)))
    }),
  )

  test(
    'a run that is not ready is never claimed',
    inWorld(async (world) => {
      const gate = await world.gate('door', 0)
      await world.submit(
        world.newRun({ dueAt: world.clock.now() + 1 }),
        world.newRun({ gates: [gate] }),
        world.newRun({ reservation: world.reservation() }),
      )
      const cancelled = world.newRun()
      await world.submit(cancelled)
      await world.cancel(cancelled.id)
      // The time has come, but only a promotion makes a timer ready.
      world.clock.advance(1)
      assert.deepEqual(await world.claim(9), [])
    }),
  )

  test(
    'a lease contains everything the run was submitted with',
    inWorld(async (world) => {
      const dueAt = world.clock.now() - 5_000
      const run = world.newRun({
        rank: -7,
        dueAt,
        timeoutMs: 2 ** 40,
        policy: '{"onLost":"fail"}',
        version: 3,
        work: '{"executor":"shell","run":"true"}',
        input: '{"a":[1,2]}',
      })
      await world.submit(run)
      world.clock.advance(250)
      const lease = only(await world.claim(1, { session: 42 }))
      assert.equal(claimNoOf(lease.fence), 1)
      assert.deepEqual(lease, {
        runId: run.id,
        fence: lease.fence,
        node: world.node,
        session: 42,
        projectId: world.project,
        jobId: world.job,
        laneId: world.lane,
        rank: -7,
        pos: run.id,
        attempt: 1,
        lost: 0,
        cancelling: false,
        startedAt: world.clock.now(),
        createdAt: world.clock.now() - 250,
        dueAt,
        timeoutMs: 2 ** 40,
        policy: '{"onLost":"fail"}',
        version: 3,
        work: '{"executor":"shell","run":"true"}',
        input: '{"a":[1,2]}',
      })
      assert.deepEqual(await world.store.ownLeases({ node: world.node, after: 0, limit: 5 }), [
        lease,
      ])
      const found = await world.store.findAttempts([lease])
      assert.deepEqual(found, [{ kind: 'lease', lease }])
    }),
  )

  test(
    'the leases of a node are listed by run id, page by page, without those of other nodes',
    inWorld(async (world) => {
      const runs = world.newRuns(7)
      await world.submit(...runs)
      await world.claim(7)
      const { node } = world
      const first = await world.store.ownLeases({ node, after: 0, limit: 3 })
      const second = await world.store.ownLeases({ node, after: at(runs, 2).id, limit: 9 })
      assert.deepEqual([...runIds(first), ...runIds(second)], ids(runs))
      assert.deepEqual(await world.store.ownLeases({ node: node + 1, after: 0, limit: 9 }), [])
    }),
  )

  test(
    'the store can report the state of any attempt',
    inWorld(async (world) => {
      const retried = await world.start()
      await world.end(retried, { to: 'retry', cause: 'error', delayMs: 5_000 })
      const givenBack = await world.start()
      await world.end(givenBack, { to: 'given_back' })
      const running = only(await world.claim(1))
      const ended = await world.start()
      await world.end(ended)
      const found = await world.store.findAttempts([
        ended,
        { ...ended, fence: ended.fence + 1 },
        running,
        { runId: running.runId, fence: givenBack.fence },
        retried,
        { runId: world.mint(), fence: ended.fence },
      ])
      assert.deepEqual(
        found.map(({ kind }) => kind),
        ['ended', 'stale', 'lease', 'stale', 'ended', 'stale'],
      )
      assert.deepEqual(await world.store.findAttempts([]), [])
    }),
  )
}

function positionOf({ rank, id }: NewRun): LanePosition {
  return { rank, pos: id }
}
