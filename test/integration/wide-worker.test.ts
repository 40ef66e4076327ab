import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWorker } from '../../src/worker/index.ts'
import { startInMemory } from './scheduler-in-memory.ts'

test('a worker with thousands of slots keeps two sessions, works on both and drains both', async () => {
  const { node, clock, engine } = await startInMemory()
  const client = node.clientFor('default')
  const worker = createWorker({
    client,
    clock,
    random: () => 0.5,
    name: 'wide',
    slots: 2_001,
    handlers: { job: () => 'done' },
  })
  await worker.start()
  const sessions = () => engine.raw.prepare('SELECT count(*) FROM session').pluck().get()
  assert.equal(sessions(), 2)
  await client.submit(Array.from({ length: 300 }, () => ({ job: 'job' })))
  await clock.advance(100)
  assert.equal((await client.listRuns({ state: 'succeeded', limit: 500 })).runs.length, 300)
  assert.equal(worker.stats().free, 2_001)
  const drained = worker.drain(0)
  await clock.advance(1_000)
  await drained
  assert.equal(await worker.stopped, 'drained')
  assert.equal(sessions(), 0)
})
