import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { PunctualError } from '../../../core/errors.ts'
import { LIMITS } from '../../../core/limits.ts'
import { EMPTY_BATCH } from '../../contract/fixture.ts'
import { StoreError } from '../../port.ts'
import { temporaryDirectory } from '../contract/open-file.ts'
import { newRun } from '../contract/rows.ts'
import { isFatal } from '../connection/store-errors.ts'
import { openSqliteStore } from '../store.ts'
import { startThread } from './thread.ts'

const EMPTY = { ...EMPTY_BATCH, node: 1 }
const RUN = newRun(1)

async function openThread(context: TestContext, onFatal: (error: Error) => void = assert.fail) {
  const path = join(temporaryDirectory(context), 'punctual.db')
  const thread = await startThread({ path, durability: 'normal' }, { now: () => 1_000, onFatal })
  context.after(() => thread.close())
  return thread
}

test('answers come in the order of the requests, with the time of each request', async (context) => {
  const thread = await openThread(context)
  const asked = Array.from({ length: 50 }, (_, i) =>
    thread.call('tick', { ...EMPTY, submits: [newRun(i + 1)] }),
  )
  for (const { now, submits } of await Promise.all(asked)) {
    assert.equal(now, 1_000)
    assert.deepEqual(submits, [{ kind: 'inserted' }])
  }
})

test('a poison item is refused, and the thread stays alive', async (context) => {
  const thread = await openThread(context)
  const poison = newRun(2, { rank: 0.5 })
  await assert.rejects(
    thread.call('tick', { ...EMPTY, submits: [RUN, poison] }),
    (error) => error instanceof StoreError && error.outcome === 'refused' && !isFatal(error),
  )
  const { submits } = await thread.call('tick', { ...EMPTY, submits: [RUN] })
  assert.deepEqual(submits, [{ kind: 'inserted' }])
})

test('a PunctualError keeps its code', async (context) => {
  const thread = await openThread(context)
  const specs = Array.from({ length: LIMITS.lanesPerProject + 1 }, (_, weight) => ({
    project: 'p',
    queue: 'q',
    labels: [],
    executor: 'shell',
    weight,
  }))
  await assert.rejects(
    thread.call('internLanes', specs),
    (error) => error instanceof PunctualError && error.code === 'too_many_lanes',
  )
})

test('a value that cannot be cloned is a rejection, not a hang', async (context) => {
  const thread = await openThread(context)
  const strange = newRun(1, { input: (() => 1) as unknown as string })
  await assert.rejects(thread.call('tick', { ...EMPTY, submits: [strange] }), /could not be cloned/)
})

test('when the thread dies, its current request is unknown and the others are unavailable', async (context) => {
  const reported: Error[] = []
  const thread = await openThread(context, (error) => reported.push(error))
  const underWay = thread.call('tick', { ...EMPTY, submits: [RUN] })
  // No such operation: it throws an uncaught error, as a bug in the thread would.
  thread.worker.postMessage(null)
  await assert.rejects(
    Promise.all([underWay, thread.call('ping'), thread.call('ping')]),
    (error) => error instanceof StoreError && error.outcome === 'unknown',
  )
  await assert.rejects(
    thread.call('ping'),
    (error) => isFatal(error) && error.outcome === 'unavailable',
  )
  assert.equal(reported.length, 1)
})

test('a closed store is unavailable, and closing it twice is fine', async (context) => {
  const path = join(temporaryDirectory(context), 'punctual.db')
  for (const inThread of [true, false]) {
    const store = await openSqliteStore({ path, inThread })
    await store.ping()
    await Promise.all([store.close(), store.close()])
    await assert.rejects(
      store.ping(),
      (error) => error instanceof StoreError && error.outcome === 'unavailable',
    )
  }
})

test('commits of the thread are visible outside it at once', async (context) => {
  const path = join(temporaryDirectory(context), 'punctual.db')
  const store = await openSqliteStore({ path, durability: 'normal' })
  for (let id = 1; id <= 100; id += 1) {
    await store.tick({ ...EMPTY, submits: [newRun(id)] })
    assert.equal((await store.findRun({ projectId: 1, runId: id }))?.state, 'ready')
  }
  assert.equal((await store.liveCounts()).ready, 100)
  await store.close()
})
