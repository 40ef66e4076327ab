import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { BlobError, type Blobs } from '../../src/blobs/port.ts'
import { createRowBlobs } from '../../src/blobs/store/blobs.ts'
import { PunctualError } from '../../src/core/errors.ts'
import type { Submission } from '../../src/core/wire/protocol.ts'
import { openEngine, createStoreOnEngine } from '../../src/store/sqlite/store.ts'
import { startInMemory } from './scheduler-in-memory.ts'
import { registerManualWorker, succeeded } from './manual-worker.ts'

const LARGE = 'x'.repeat(100_000)

/** A node whose blobs fail as the test says. */
async function open(t: TestContext) {
  const elsewhere = openEngine({ path: ':memory:' })
  t.after(() => elsewhere.close())
  const rows = createRowBlobs(createStoreOnEngine(elsewhere))
  const failures: { put?: Error; get?: Error; gets: number; puts: number } = { gets: 0, puts: 0 }
  const blobs: Blobs = {
    ...rows,
    async put(name, bytes) {
      failures.puts += 1
      if (failures.put) throw failures.put
      return rows.put(name, bytes)
    },
    async get(key, part) {
      failures.gets += 1
      if (failures.get) throw failures.get
      return rows.get(key, part)
    },
  }
  const world = await startInMemory({ blobs })
  t.after(() => world.node.stop())
  const client = world.node.clientFor('default')
  const submit = async (input: unknown, more: Partial<Submission> = {}) => {
    const [answer] = await client.submit([{ job: 'job', input, ...more }])
    return answer?.id as string
  }
  return { ...world, client, rows, failures, submit, worker: await registerManualWorker(client) }
}

test('a run with a large input waits while blobs are out of reach, and starts when they are back', async (t) => {
  const { client, failures, submit, worker, errors } = await open(t)
  const id = await submit(LARGE)
  failures.get = new BlobError('unavailable', 'the mount is gone')
  assert.deepEqual(await worker.take(), [])
  assert.deepEqual(await worker.take(), [])
  // The worker reports that it holds nothing: the run it never received stays assigned to it.
  await worker.heartbeat(2, [])
  assert.equal((await client.listRuns()).runs[0]?.state, 'running')
  assert.ok(errors.some((error) => String(error).includes('the mount is gone')))
  delete failures.get
  const [granted] = await worker.take()
  assert.deepEqual([granted?.run, granted?.input], [id, JSON.stringify(LARGE)])
  await worker.report([succeeded(granted as NonNullable<typeof granted>)])
  assert.equal((await client.getRun(id)).state, 'succeeded')
})

test('a run whose input is lost fails once despite retries, and the worker continues', async (t) => {
  const { client, clock, failures, submit, worker } = await open(t)
  const id = await submit(LARGE, { retry: { max: 9 } })
  const small = await submit('small')
  failures.get = new BlobError('corrupt', 'the blob is not what was written')
  const runs = [...(await worker.take()), ...(await worker.take())]
  await clock.advance(10)
  assert.deepEqual(new Set(runs.map(({ run }) => run)), new Set([small]))
  const { runs: failed } = await client.listRuns({ state: 'failed' })
  assert.equal(failed[0]?.id, id)
  assert.equal(failed[0]?.cause, 'start_error')
  assert.match(failed[0]?.message ?? '', /not what was written/)
  const isUnreadable = (error: unknown) =>
    error instanceof PunctualError && error.code === 'blob_unreadable'
  await assert.rejects(client.getRun(id), isUnreadable)
  await assert.rejects(client.retry(id), isUnreadable)
})

test('one answer has a bounded size, and the next one brings the rest', async (t) => {
  const { submit, worker } = await open(t)
  const huge = 'x'.repeat(7 * 1024 * 1024)
  const ids: string[] = []
  for (let count = 0; count < 5; count += 1) ids.push(await submit(huge + count))
  const answers = [await worker.take(), await worker.take(5), await worker.take(5)]
  assert.deepEqual(
    answers.map((runs) => runs.length),
    [2, 2, 1],
  )
  assert.deepEqual(
    answers
      .flat()
      .map(({ run }) => run)
      .toSorted(),
    ids.toSorted(),
  )
})

test('a result that could not be stored is not acknowledged until a repeated report succeeds', async (t) => {
  const { client, failures, submit, worker } = await open(t)
  const id = await submit('small')
  const [granted] = await worker.take()
  assert.ok(granted)
  const done = [{ ...succeeded(granted), result: JSON.stringify(LARGE) }]
  failures.put = new BlobError('full', 'no space left on device')
  await assert.rejects(worker.report(done), (error: PunctualError) => error.code === 'storage_full')
  assert.equal((await client.getRun(id)).state, 'running')
  delete failures.put
  assert.deepEqual((await worker.report(done)).verdicts, ['accepted'])
  assert.deepEqual((await worker.report(done)).verdicts, ['accepted'])
  const run = await client.getRun(id)
  assert.deepEqual([run.result, run.resultBytes], [LARGE, LARGE.length + 2])
})

test('a result that looks like a blob reference is not one', async (t) => {
  const { client, failures, submit, worker, engine } = await open(t)
  await submit(LARGE)
  const [victim] = await worker.take()
  await submit('small')
  const [forger] = await worker.take(9)
  assert.ok(victim && forger)
  const stolen = engine.raw.prepare('SELECT input FROM run ORDER BY id LIMIT 1').pluck().get()
  assert.match(String(stolen), /^@100002 run_/)
  const own = String(stolen).replace(victim.run, forger.run)
  await worker.report([{ ...succeeded(forger), result: own }])
  const gets = failures.gets
  const run = await client.getRun(forger.run)
  assert.deepEqual([run.result, run.resultBytes], [own, null])
  assert.equal(failures.gets, gets)
})

test('small inputs and results never become blobs', async (t) => {
  const { client, failures, submit, worker } = await open(t)
  const id = await submit('x'.repeat(65_534))
  const [granted] = await worker.take()
  assert.ok(granted)
  await worker.report([{ ...succeeded(granted), result: JSON.stringify('y'.repeat(65_534)) }])
  assert.equal((await client.getRun(id)).state, 'succeeded')
  assert.deepEqual([failures.puts, failures.gets], [0, 0])
})
