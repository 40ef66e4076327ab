import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startInMemory } from './scheduler-in-memory.ts'
import { registerManualWorker, succeeded } from './manual-worker.ts'

async function open() {
  const world = await startInMemory()
  const client = world.node.clientFor('default')
  return { ...world, client, submit: async () => client.submit([{ job: 'job' }]) }
}

test('a waiting exchange gets the run in the commit that stores it', async () => {
  const { client, submit } = await open()
  const worker = await registerManualWorker(client)
  const answer = worker.exchange({ waitMs: 10_000 })
  await submit()
  assert.equal((await answer).runs.length, 1)
})

test('an exchange without a grant is answered when its wait time is over, not before', async () => {
  const { client, clock } = await open()
  const worker = await registerManualWorker(client)
  let isAnswered = false
  const answer = worker.exchange({ waitMs: 5_000 }).then((given) => {
    isAnswered = true
    return given
  })
  await clock.advance(4_900)
  assert.equal(isAnswered, false)
  await clock.advance(200)
  assert.deepEqual((await answer).runs, [])
})

test('a grant whose answer was lost comes with the next answer, under the same fence', async () => {
  const { client, submit } = await open()
  const worker = await registerManualWorker(client)
  await submit()
  const [lost] = (await worker.exchange()).runs
  const [again] = (await worker.exchange({ answered: 0 })).runs
  assert.deepEqual(again, lost)
})

test('a confirmed grant is not given again', async () => {
  const { client, submit } = await open()
  const worker = await registerManualWorker(client)
  await submit()
  await worker.take()
  assert.deepEqual(await worker.take(), [])
})

test('an exchange older than the last one is refused', async () => {
  const { client } = await open()
  const worker = await registerManualWorker(client)
  await worker.exchange({ number: 5 })
  await assert.rejects(worker.exchange({ number: 4 }), { code: 'exchange_out_of_order' })
})

test('a completion reported twice is accepted twice and counted once', async () => {
  const { client, submit } = await open()
  const worker = await registerManualWorker(client)
  const [submitted] = await submit()
  const [run] = await worker.take()
  assert.ok(run && submitted)
  assert.deepEqual((await worker.report([succeeded(run)])).verdicts, ['accepted'])
  assert.deepEqual((await worker.report([succeeded(run)])).verdicts, ['accepted'])
  assert.equal((await client.getRun(submitted.id)).attempt, 1)
})

test('a different report on an attempt that has ended is stale', async () => {
  const { client, submit } = await open()
  const worker = await registerManualWorker(client)
  await submit()
  const [run] = await worker.take()
  assert.ok(run)
  await worker.report([{ run: run.run, fence: run.fence, outcome: 'failed', cause: 'exit' }])
  assert.deepEqual((await worker.report([succeeded(run)])).verdicts, ['stale'])
})

test('a made-up fence ends nothing', async () => {
  const { client, submit } = await open()
  const worker = await registerManualWorker(client)
  const [submitted] = await submit()
  const [run] = await worker.take()
  assert.ok(run && submitted)
  const forged = { ...succeeded(run), fence: run.fence + 1 }
  assert.deepEqual((await worker.report([forged])).verdicts, ['stale'])
  assert.equal((await client.getRun(submitted.id)).state, 'running')
})

test('a confirmed grant that a heartbeat does not list goes back uncounted', async () => {
  const { client, submit, clock } = await open()
  const worker = await registerManualWorker(client)
  const [submitted] = await submit()
  const [run] = await worker.take(1)
  assert.ok(run && submitted)
  await worker.heartbeat(1, [])
  await clock.advance(10)
  const again = await client.getRun(submitted.id)
  assert.deepEqual([again.state, again.attempt, again.lost], ['ready', 1, 0])
})

test('heartbeats leave a grant alone while its answer is still on the way', async () => {
  const { client, submit, clock } = await open()
  const worker = await registerManualWorker(client)
  const [submitted] = await submit()
  await worker.take()
  await worker.heartbeat(0, [])
  await clock.advance(10)
  assert.equal((await client.getRun(submitted?.id ?? '')).state, 'running')
})

test('a silent session loses its attempts to another worker, counted as lost', async () => {
  const { client, submit, clock } = await open()
  const silent = await registerManualWorker(client)
  const [submitted] = await submit()
  await silent.take()
  await clock.advance(12_500)
  const other = await registerManualWorker(client)
  const [taken] = await other.take()
  assert.equal(taken?.run, submitted?.id)
  assert.equal(taken?.attempt, 2)
  await assert.rejects(silent.exchange(), { code: 'session_unknown' })
})

test('a heartbeat answer names cancels and losses', async () => {
  const { client, submit } = await open()
  const worker = await registerManualWorker(client)
  const [submitted] = await submit()
  const [run] = await worker.take()
  assert.ok(run && submitted)
  assert.equal((await client.cancel(submitted.id)).state, 'cancelling')
  const stranger = { run: submitted.id, fence: run.fence + 1 }
  assert.deepEqual((await worker.heartbeat(1, [run])).cancels, [submitted.id])
  assert.deepEqual((await worker.heartbeat(1, [stranger])).lost, [submitted.id])
})

test('a session that registers again keeps the attempts it lists and gives back the rest', async () => {
  const { client, submit, clock } = await open()
  const worker = await registerManualWorker(client)
  await submit()
  await submit()
  const [kept, unseen] = await worker.take()
  assert.ok(kept && unseen)
  const { lost } = await client.register({
    name: 'again',
    queues: ['default'],
    labels: {},
    executors: ['handler:job'],
    slots: 10,
    session: worker.session,
    registration: 2,
    forsaken: [],
    held: [{ run: kept.run, fence: kept.fence }],
  })
  await clock.advance(10)
  assert.deepEqual(lost, [])
  assert.equal((await client.getRun(kept.run)).state, 'running')
  assert.equal((await client.getRun(unseen.run)).state, 'ready')
  await assert.rejects(worker.exchange(), { code: 'session_superseded' })
})

test('an older registration that arrives late changes nothing', async () => {
  const { client } = await open()
  const { session } = await registerManualWorker(client, { registration: 3 })
  await assert.rejects(registerManualWorker(client, { session, registration: 2 }), {
    code: 'session_superseded',
  })
})
