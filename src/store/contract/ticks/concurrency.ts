import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sortedNumbers, endCommandFor, ids, runIds } from '../fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

const CALLERS = 8

/** Claims what the concurrent callers left behind, one tick at a time. */
async function drain(world: StoreWorld): Promise<number[]> {
  const claimed: number[] = []
  for (;;) {
    const leases = await world.claim(50)
    if (leases.length === 0) return claimed
    claimed.push(...runIds(leases))
  }
}

async function atOnce<T>(work: (caller: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: CALLERS }, (_, caller) => work(caller)))
}

export function concurrencyContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'concurrent claims assign no run twice and lose none',
    inWorld(async (world) => {
      const runs = world.newRuns(120)
      await world.submit(...runs)
      const answers = await atOnce((caller) => world.claim(20, { session: caller }))
      const claimed = runIds(answers.flat())
      assert.equal(new Set(claimed).size, claimed.length)
      assert.deepEqual(sortedNumbers([...claimed, ...(await drain(world))]), ids(runs))
      const fences = await world.store.ownLeases({ node: world.node, after: 0, limit: 500 })
      assert.equal(fences.length, runs.length)
    }),
  )

  test(
    'an attempt ended by many callers at once is ended once',
    inWorld(async (world) => {
      const lease = await world.start()
      const verdicts = await atOnce(() => world.end(lease))
      assert.deepEqual(verdicts.toSorted(), ['ended', ...Array(CALLERS - 1).fill('replayed')])
    }),
  )

  test(
    'a run given back by many callers at once is in the queue once',
    inWorld(async (world) => {
      const lease = await world.start()
      const verdicts = await atOnce(() => world.end(lease, { to: 'given_back' }))
      assert.deepEqual(verdicts.toSorted(), ['ended', ...Array(CALLERS - 1).fill('stale')])
      assert.deepEqual(runIds(await world.claim(5)), [lease.runId])
    }),
  )

  test(
    'the same submission sent many times at once is one run',
    inWorld(async (world) => {
      const run = world.newRun()
      const verdicts = (await atOnce(() => world.submit(run))).flat().map(({ kind }) => kind)
      assert.deepEqual(verdicts.toSorted(), [...Array(CALLERS - 1).fill('exists'), 'inserted'])
      assert.equal((await world.claim(5)).length, 1)
    }),
  )

  for (const key of ['dedupe', 'idempotency'] as const) {
    test(
      `one ${key} key submitted many times at once is one run, and all answers name it`,
      inWorld(async (world) => {
        const until = world.clock.now() + 1_000
        const keyed =
          key === 'dedupe' ? { dedupeKey: 'k' } : { idempotency: { key: 'k', digest: 'd', until } }
        const answers = await atOnce(async () => {
          const run = world.newRun(keyed)
          const [verdict] = await world.submit(run)
          assert.ok(verdict)
          return 'id' in verdict ? verdict.id : run.id
        })
        assert.equal(new Set(answers).size, 1)
        assert.deepEqual(ids(await world.list()), [answers[0]])
      }),
    )
  }

  test(
    'a claim racing with cancels leaves each run with one outcome',
    inWorld(async (world) => {
      const runs = world.newRuns(40)
      await world.submit(...runs)
      const cancels = runs.map(({ id }) => ({ runId: id, projectId: world.project }))
      const [claims, verdicts] = await Promise.all([
        world.claim(20),
        world.tick({ cancels }).then((result) => result.cancels),
      ])
      const claimed = new Set(runIds(claims))
      for (const [index, { id }] of runs.entries()) {
        const expected = claimed.has(id) ? 'marked' : 'cancelled'
        assert.equal(verdicts[index]?.kind === 'cancelled' ? 'cancelled' : 'marked', expected)
        assert.equal(await world.stateOf(id), claimed.has(id) ? 'running' : 'cancelled')
      }
    }),
  )

  test(
    'concurrent releases and arrivals at one gate never exceed its capacity',
    inWorld(async (world) => {
      const gate = await world.gate('door', 3)
      const runs = world.newRuns(24, { gates: [gate] })
      await atOnce((caller) => world.submit(...runs.slice(caller * 3, caller * 3 + 3)))
      let finished = 0
      while (finished < runs.length) {
        const live = (await world.list()).filter(({ state }) =>
          ['ready', 'running'].includes(state),
        )
        assert.ok(live.length <= 3, `${live.length} runs hold a gate for 3`)
        // The sweep finds a run that missed a release, and no later than that.
        world.clock.advance(3_600_000)
        await world.store.recheck({ limit: 100, recheckMs: 1_000 })
        const leases = await world.claim(24)
        assert.ok(leases.length > 0, 'no run is admitted although runs wait')
        await Promise.all(leases.map((lease) => world.tick({ ends: [endCommandFor(lease)] })))
        finished += leases.length
      }
    }),
  )
}
