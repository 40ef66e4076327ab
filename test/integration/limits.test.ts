import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startInMemory } from './scheduler-in-memory.ts'
import { registerManualWorker } from './manual-worker.ts'

const BY = { project: 'default', actor: null, request: null, address: null }

test('a limit that is raised in a job applies at once to waiting runs', async () => {
  const { node, clock } = await startInMemory()
  const client = node.clientFor('default')
  const define = (limit: number) =>
    node.admin.jobs.put(BY, 'job', { task: 'job', concurrency: [{ key: 'db', limit }] }, null)
  await define(1)
  const worker = await registerManualWorker(client)
  await client.submit(Array.from({ length: 5 }, () => ({ job: 'job' })))
  assert.equal((await worker.take(10)).length, 1)
  const waiting = worker.exchange({ free: 9, waitMs: 20_000 })
  await clock.advance(100)
  await define(4)
  await clock.advance(100)
  assert.equal((await waiting).runs.length, 3)
})

test('the latest limit counts, even if an earlier one is repeated', async () => {
  const { node } = await startInMemory()
  const client = node.clientFor('default')
  const worker = await registerManualWorker(client, { slots: 50 })
  const submit = async (limit: number) => {
    await client.submit([{ job: 'job', concurrency: [{ key: 'db', limit }] }])
    return (await worker.exchange({ free: 50 })).runs.length
  }
  assert.deepEqual(
    [await submit(1), await submit(1), await submit(3), await submit(1), await submit(1)],
    [1, 0, 2, 0, 0],
  )
})
