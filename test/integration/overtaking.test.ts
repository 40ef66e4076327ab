import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SchedulerClient } from '../../src/core/wire/protocol.ts'
import { startInMemory } from './scheduler-in-memory.ts'
import { registerManualWorker, succeeded } from './manual-worker.ts'

const submit = async (client: SchedulerClient, ...jobs: Parameters<typeof client.submit>[0]) =>
  (await client.submit(jobs)).map(({ id }) => id)

/** Requests made while this runs are handled together by the tick after it. */
const occupy = (client: SchedulerClient) => client.submit([{ job: 'elsewhere', queue: 'other' }])

// A node reads a lane from where it last claimed. Nothing rechecks on a timer here: an overlooked run would be
// found a second later, too late for these tests.

test('a more urgent run is next, even if it arrives with the tick that serves another', async () => {
  const { node } = await startInMemory()
  const client = node.clientFor('default')
  const plain = await submit(client, ...Array.from({ length: 4 }, () => ({ job: 'job' })))
  const worker = await registerManualWorker(client, { slots: 1 })
  const [first] = await worker.take()
  assert.ok(first)
  assert.equal(first.run, plain[0])
  const [, [urgent], { runs }] = await Promise.all([
    occupy(client),
    submit(client, { job: 'job', priority: 5 }),
    worker.report([succeeded(first)]),
  ])
  assert.deepEqual(
    runs.map(({ run }) => run),
    [urgent],
  )
})

test('a run that waited at a gate is served soon after it opens, though others were served meanwhile', async () => {
  const { node } = await startInMemory()
  const client = node.clientFor('default')
  const gated = { job: 'job', concurrency: [{ key: 'narrow', limit: 1 }] }
  const [holder, waiting] = await submit(client, gated, gated)
  const plain = await submit(client, ...Array.from({ length: 4 }, () => ({ job: 'job' })))
  const worker = await registerManualWorker(client, { slots: 2 })
  const [first, second] = await worker.take()
  assert.ok(first)
  assert.deepEqual([first.run, second?.run], [holder, plain[0]])
  // The gate opens in the tick that serves the next run: that may be too early, but the one after it is not.
  const [, { runs: meanwhile }] = await Promise.all([
    occupy(client),
    worker.report([succeeded(first)], 1),
  ])
  const { runs: afterwards } = await worker.report(meanwhile.map(succeeded), 1)
  assert.deepEqual(
    [...meanwhile, ...afterwards].map(({ run }) => run),
    [plain[1], waiting],
  )
})
