import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startInMemory } from './scheduler-in-memory.ts'
import { registerManualWorker } from './manual-worker.ts'

test('a worker of another node runs a job submitted at one node, under its own name', async () => {
  const first = await startInMemory()
  const second = await startInMemory({
    beside: first,
    config: { laneRefreshMs: 2 },
    // Looking up a name takes a while, and more work arrives meanwhile.
    wrap: (store, clock) => ({
      ...store,
      async jobNames(ids) {
        await clock.sleep(20)
        return store.jobNames(ids)
      },
    }),
  })
  const client = first.node.clientFor('default')
  const jobs = ['one', 'two', 'three']
  const worker = await registerManualWorker(second.node.clientFor('default'), { jobs })
  const taken: string[] = []
  const take = async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      const { runs } = await worker.exchange({ waitMs: 1_000 })
      taken.push(...runs.map(({ job }) => job))
    }
  }
  const taking = take()
  for (const job of jobs) {
    await client.submit([{ job }])
    await first.clock.advance(8)
  }
  await first.clock.advance(5_000)
  await taking
  assert.deepEqual(taken.toSorted(), jobs.toSorted())
})

test('a cancel asked of one node reaches the worker of another', async () => {
  const first = await startInMemory()
  const second = await startInMemory({ beside: first })
  const client = first.node.clientFor('default')
  const worker = await registerManualWorker(second.node.clientFor('default'))
  const [submitted] = await client.submit([{ job: 'job' }])
  const taking = worker.exchange({ waitMs: 5_000 })
  await first.clock.advance(2_000)
  const [run] = (await taking).runs
  assert.ok(run && submitted)
  assert.equal((await client.cancel(submitted.id)).state, 'cancelling')
  await first.clock.advance(1_500)
  assert.deepEqual((await worker.heartbeat(1, [run])).cancels, [submitted.id])
})
