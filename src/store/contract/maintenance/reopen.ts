import assert from 'node:assert/strict'
import { adoptInto } from '../sessions/session-binding.ts'
import { test } from 'node:test'
import { GRACE_MS, HOUR_MS, listAll, NODE_TTL_MS, runIds } from '../fixture.ts'
import { onFreshStores, joinNode, type OpenStore, type StoreWorld } from '../world.ts'
import type { Store } from '../../port.ts'

const ALL = { after: 0, limit: 100 }

interface Survivor {
  readonly store: Store
  readonly node: number
}

/** Opens the data again as a new process would: the earlier node never left. */
async function reopen(world: StoreWorld): Promise<Survivor> {
  assert.ok(world.reopen)
  const store = await world.reopen()
  const { node } = await joinNode(store, 'after')
  return { store, node }
}

/** Waits until the earlier node is dead and past its grace. */
async function outliveGrace({ clock }: StoreWorld, { store, node }: Survivor): Promise<void> {
  for (let waited = 0; waited <= Math.max(GRACE_MS, NODE_TTL_MS); waited += NODE_TTL_MS / 2) {
    clock.advance(NODE_TTL_MS / 2)
    await store.heartbeat({ node, ttlMs: NODE_TTL_MS, idMark: 0 })
    await store.declareDeadNodes()
  }
}

export function reopenContract(open: OpenStore): void {
  const inWorld = onFreshStores(open)

  test(
    'a reopened store has everything that was acknowledged',
    inWorld(async (world, t) => {
      if (!world.reopen) return t.skip('a store in memory')
      const gate = await world.gate('door', 1)
      const ended = await world.start({ input: '"a"' })
      await world.end(ended, { result: '"b"', worker: 'w' })
      const retried = await world.start()
      await world.end(retried, { to: 'retry', cause: 'exit', delayMs: HOUR_MS })
      const cancelled = world.newRun()
      await world.submit(cancelled)
      await world.cancel(cancelled.id)
      await world.submit(
        ...world.newRuns(2, { gates: [gate] }),
        world.newRun({ dueAt: world.clock.now() + HOUR_MS }),
        world.newRun({ reservation: world.reservation(), dedupeKey: 'k' }),
      )
      const before = await world.list()
      const { store } = await reopen(world)
      assert.deepEqual(await listAll(store, world.project), before)
      assert.deepEqual(await store.internProjects([world.projectName]), [world.project])
      assert.deepEqual(
        (await store.lanesAfter(0)).map(({ id }) => id),
        [world.lane],
      )
    }),
  )

  test(
    'a running attempt is an orphan of a dead incarnation, once its grace is over',
    inWorld(async (world, t) => {
      if (!world.reopen) return t.skip('a store in memory')
      const lease = await world.start()
      const survivor = await reopen(world)
      assert.ok(survivor.node > world.node)
      assert.deepEqual(await survivor.store.orphans(ALL), [])
      await outliveGrace(world, survivor)
      assert.deepEqual(await survivor.store.orphans(ALL), [lease])
    }),
  )

  test(
    'a worker that comes back in time keeps its attempt by its fence',
    inWorld(async (world, t) => {
      if (!world.reopen) return t.skip('a store in memory')
      await world.submit(...world.newRuns(2))
      const leases = await world.claim(2, { session: 5 })
      const survivor = await reopen(world)
      const { store, node } = survivor
      const [kept] = leases
      assert.ok(kept)
      const held = [{ runId: kept.runId, fence: kept.fence }]
      const result = await adoptInto(store, { node, session: 5, registration: 2, held })
      assert.deepEqual(result?.adopted, [{ ...kept, node }])
      assert.deepEqual(runIds(result?.unlisted ?? []), runIds(leases.slice(1)))
      await outliveGrace(world, survivor)
      assert.ok(!runIds(await store.orphans(ALL)).includes(kept.runId))
    }),
  )

  test(
    'ids minted after reopening are above every id minted before',
    inWorld(async (world, t) => {
      if (!world.reopen) return t.skip('a store in memory')
      await world.store.heartbeat({ node: world.node, ttlMs: NODE_TTL_MS, idMark: world.mint() })
      const used = world.newRuns(500)
      await world.submit(...used)
      const store = await world.reopen()
      const joined = await joinNode(store)
      if (joined.slot === world.slot) assert.ok(joined.idFloor >= (used.at(-1)?.id ?? 0))
    }),
  )
}
