import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndCommand, Lease } from '../../port.ts'
import { at, chunks, createSeededRandom, endCommandFor, ids } from '../fixture.ts'
import { onFreshStores, type OpenStore, type StoreWorld } from '../world.ts'

const KEYS = 50
/** Fewer runs on PostgreSQL, where each tick is a round trip; the scenario is the same. */
const RUNS = { sqlite: 10_000, postgres: 1_500 } as const

/** Fifty keys with one slot each, and many runs that contend for them while faults happen. */
async function openCrowd(world: StoreWorld) {
  const random = createSeededRandom(7)
  const gates = await world.store.internGates(
    Array.from({ length: KEYS }, (_, key) => ({
      projectId: world.project,
      name: `key-${key}`,
      capacity: 1,
    })),
  )
  const gateOf = new Map<number, number>()
  const runs = Array.from({ length: RUNS[world.store.kind] }, () => {
    const gate = at(gates, Math.floor(random() * KEYS))
    const run = world.newRun({ gates: [gate] })
    gateOf.set(run.id, gate)
    return run
  })
  for (const some of chunks(runs, world.store.tickCap)) await world.submit(...some)
  return { gates, gateOf, random, runs }
}

/**
 * The end of an attempt: most succeed; some fail, are retried at once or later, or are given back.
 */
function draw(world: StoreWorld, chance: number): Partial<EndCommand> {
  if (chance < 0.7) return {}
  if (chance < 0.8) return { to: 'failed', cause: 'error' }
  if (chance < 0.87) return { to: 'given_back' }
  const retry = { to: 'retry', cause: 'error', pos: world.mint() } as const
  return chance < 0.94 ? retry : { ...retry, delayMs: 500 }
}

export function crowdedGatesContract(open: OpenStore): void {
  const inWorld = onFreshStores(open)

  test(
    'keys with one slot never have two holders, and lose no slot, however their holders end',
    inWorld(async (world) => {
      const { store, node, clock } = world
      const { gates, gateOf, random, runs } = await openCrowd(world)

      const assertWithin = (leases: readonly Lease[]) => {
        const taken = leases.map(({ runId }) => gateOf.get(runId))
        assert.equal(new Set(taken).size, taken.length, 'two attempts at once with one key')
      }
      const underWay = () => store.ownLeases({ node, after: 0, limit: 10_000 })

      for (let idle = 0; idle < 5;) {
        const claimed = await world.claim(KEYS * 2)
        assertWithin(await underWay())
        // One worker in ten is never heard from again: its attempts are found in the store, and
        // lost.
        const reported = claimed.filter(() => random() > 0.1)
        const unlucky = await underWay()
        const doomed = new Set(ids(runs.filter(() => random() < 0.0005)))
        await world.tick({
          ends: reported.map((lease) => endCommandFor(lease, draw(world, random()))),
          cancels: [...doomed].map((runId) => ({ runId, projectId: world.project })),
        })
        const known = new Set(reported.map(({ runId }) => runId))
        const lost = unlucky.filter(({ runId }) => !known.has(runId))
        await world.tick({
          ends: lost.map((lease) => {
            const how = lease.lost < 3 ? ('retry' as const) : ('failed' as const)
            const pos = world.mint()
            return endCommandFor(lease, {
              to: how,
              cause: 'lost',
              owner: node,
              lost: lease.lost + 1,
              pos,
            })
          }),
        })
        clock.advance(200)
        await store.promote({ positions: Array.from({ length: 100 }, world.mint) })
        idle = claimed.length === 0 ? idle + 1 : 0
      }

      const { ready, running, scheduled, blocked } = await store.liveCounts()
      assert.deepEqual({ ready, running, scheduled, blocked }, EMPTY)
      // No slot leaked: every key admits one more, at once, and only one.
      const again = gates.flatMap((gate) => world.newRuns(2, { gates: [gate] }))
      for (const { id, gates: own } of again) gateOf.set(id, own[0] as number)
      await world.submit(...again)
      const last = await world.claim(KEYS * 2)
      assert.equal(last.length, KEYS)
      assertWithin(last)
    }),
  )
}

const EMPTY = { ready: 0, running: 0, scheduled: 0, blocked: 0 }
