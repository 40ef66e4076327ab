import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SchedulerClient } from '../../src/core/wire/protocol.ts'
import { startInMemory } from './scheduler-in-memory.ts'
import { registerByHand, succeeded } from './manual-worker.ts'

const submit = async (client: SchedulerClient, ...jobs: Parameters<typeof client.submit>[0]) =>
  (await client.submit(jobs)).map(({ id }) => id)

/** What is said while this is under way is done by one tick, after it. */
const occupy = (client: SchedulerClient) => client.submit([{ job: 'elsewhere', queue: 'other' }])

// A node reads a lane from where it last claimed. Nobody looks at the clock here: what it overlooked it would
// find a second later, too late for these.

test('one that is more urgent is next, though it came in with the very tick that served another', async () => {
  const { node } = await startInMemory()
  const client = node.clientFor('default')
  const plain = await submit(client, ...Array.from({ length: 4 }, () => ({ job: 'job' })))
  const worker = await registerByHand(client, { slots: 1 })
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

test('one that waited at a gate is served soon once it is open, though others have been served since', async () => {
  const { node } = await startInMemory()
  const client = node.clientFor('default')
  const gated = { job: 'job', concurrency: [{ key: 'narrow', limit: 1 }] }
  const [holder, waiting] = await submit(client, gated, gated)
  const plain = await submit(client, ...Array.from({ length: 4 }, () => ({ job: 'job' })))
  const worker = await registerByHand(client, { slots: 2 })
  const [first, second] = await worker.take()
  assert.ok(first)
  assert.deepEqual([first.run, second?.run], [holder, plain[0]])
  // The gate opens in the tick that serves the next one: that may be too soon, but the one after it is not.
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
