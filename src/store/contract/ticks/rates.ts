import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Rate } from '../../../core/queue/rate.ts'
import type { ClaimDemand } from '../../port.ts'
import { at, only } from '../fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

/** A queue with a rate, and two of its lanes. */
async function openQueue(world: StoreWorld, rate: Rate | null) {
  const queue = `mail-${world.mint()}`
  const put = (next: Rate | null) =>
    world.store.putQueue({
      projectId: world.project,
      name: queue,
      paused: false,
      defaultTimeoutMs: null,
      maxTimeoutMs: null,
      rate: next,
      audit: {
        projectId: world.project,
        actor: null,
        action: 'queue.put',
        target: queue,
        detail: null,
        request: null,
        address: null,
      },
    })
  await put(rate)
  const spec = { project: world.projectName, queue, labels: [], weight: 1 }
  const lanes = await world.store.internLanes(
    ['handler:a', 'handler:b'].map((executor) => ({ ...spec, executor })),
  )
  const demand = (lane: number, count: number): ClaimDemand => ({
    ...world.demand(count, { laneId: at(lanes, lane) }),
    rate: { projectId: world.project, queue },
  })
  const fill = (lane: number, count: number) =>
    world.submit(...world.newRuns(count, { laneId: at(lanes, lane) }))
  return { lanes, put, demand, fill }
}

export function ratesContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'all lanes and nodes together stay within the rate of their queue, and use all of it',
    inWorld(async (world) => {
      const rounds = fc.array(
        fc.record({
          afterMs: fc.nat(700),
          asks: fc.array(fc.tuple(fc.nat(1), fc.integer({ min: 1, max: 6 })), { maxLength: 3 }),
        }),
        { minLength: 3, maxLength: 15 },
      )
      await fc.assert(
        fc.asyncProperty(rounds, fc.integer({ min: 1, max: 4 }), async (sequence, burst) => {
          const rate = { limit: 5, perMs: 1_000, burst }
          const queue = await openQueue(world, rate)
          await queue.fill(0, 60)
          await queue.fill(1, 60)
          const starts: number[] = []
          for (const { afterMs, asks } of sequence) {
            world.clock.advance(afterMs)
            const ticks = asks.map(([lane, count]) =>
              world.tick({ claims: [queue.demand(lane, count), queue.demand(1 - lane, 1)] }),
            )
            for (const { claims } of await Promise.all(ticks)) {
              for (const _ of claims.flat()) starts.push(world.clock.now())
            }
          }
          for (const [first, from] of starts.entries()) {
            const windowMs = (starts.at(-1) ?? from) - from
            const most = burst + (windowMs * rate.limit) / rate.perMs
            assert.ok(starts.length - first <= most, `${starts.length - first} in ${windowMs} ms`)
          }
          // A demand for more than there is takes all there is.
          const lastly = await world.tick({ claims: [queue.demand(0, 9), queue.demand(1, 9)] })
          const [full] = lastly.limited
          assert.ok(full && full.until > world.clock.now(), 'the result says when to try again')
        }),
        { numRuns: 12 },
      )
    }),
  )

  test(
    'the result contains the time at which the rate allows more, and at that time it does',
    inWorld(async (world) => {
      const queue = await openQueue(world, { limit: 7, perMs: 60_000, burst: 2 })
      await queue.fill(0, 9)
      const starts: number[] = []
      for (let turn = 0; turn < 5; turn += 1) {
        const { claims, limited } = await world.tick({ claims: [queue.demand(0, 9)] })
        starts.push(only(claims).length)
        const { laneId, until } = only(limited)
        assert.equal(laneId, at(queue.lanes, 0))
        world.clock.advance(until - world.clock.now())
      }
      assert.deepEqual(starts, [2, 1, 1, 1, 1])
    }),
  )

  test(
    'a clock that was set back closes a queue only until the reported time',
    inWorld(async (world) => {
      const queue = await openQueue(world, { limit: 7, perMs: 60_000, burst: 1 })
      await queue.fill(0, 9)
      const ask = async () => {
        const { claims, limited } = await world.tick({ claims: [queue.demand(0, 9)] })
        return { count: only(claims).length, waitMs: only(limited).until - world.clock.now() }
      }
      const { count, waitMs } = await ask()
      world.clock.advance(-3_600_000)
      const back = await ask()
      assert.deepEqual([count, back.count, back.waitMs], [1, 0, waitMs])
      world.clock.advance(waitMs)
      assert.equal((await ask()).count, 1)
      world.clock.advance(3_600_000)
    }),
  )

  test(
    'a lane that ran dry is not limited, and unused claims are not charged',
    inWorld(async (world) => {
      const queue = await openQueue(world, { limit: 1, perMs: 60_000, burst: 5 })
      await queue.fill(0, 2)
      const { claims, limited } = await world.tick({ claims: [queue.demand(0, 4)] })
      assert.deepEqual([only(claims).length, limited], [2, []])
      await queue.fill(1, 9)
      const later = await world.tick({ claims: [queue.demand(1, 9)] })
      assert.equal(only(later.claims).length, 3)
    }),
  )

  test(
    'a rate that changes keeps what was used up; without a rate there is no limit',
    inWorld(async (world) => {
      const queue = await openQueue(world, { limit: 1, perMs: 60_000, burst: 2 })
      await queue.fill(0, 20)
      const claim = async () =>
        only((await world.tick({ claims: [queue.demand(0, 6)] })).claims).length
      assert.equal(await claim(), 2)
      await queue.put({ limit: 1, perMs: 60_000, burst: 3 })
      assert.equal(await claim(), 1)
      await queue.put(null)
      assert.equal(await claim(), 6)
    }),
  )

  test(
    'queues with a rate do not slow down the others of a tick',
    inWorld(async (world) => {
      const queue = await openQueue(world, { limit: 1, perMs: 60_000, burst: 1 })
      await queue.fill(0, 3)
      await world.submit(...world.newRuns(3))
      const claims = [queue.demand(0, 3), world.demand(3)]
      const result = await world.tick({ claims })
      assert.deepEqual(
        result.claims.map(({ length }) => length),
        [1, 3],
      )
      assert.deepEqual(
        result.limited.map(({ laneId }) => laneId),
        [at(queue.lanes, 0)],
      )
    }),
  )
}
