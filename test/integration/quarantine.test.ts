import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWorker } from '../../src/worker/index.ts'
import { startInMemory } from './scheduler-in-memory.ts'

const BROKEN = ['a', 'b', 'a', 'b', 'a', 'b', 'a', 'b']

test('a worker that cannot start any run takes none, says so, and continues when it can', async () => {
  const { node, clock } = await startInMemory()
  const client = node.clientFor('default')
  const messages: string[] = []
  const worker = createWorker({
    name: 'ill',
    slots: 1,
    clock,
    random: () => 0.5,
    // Input that is not JSON cannot be passed to a function: the attempt does not start.
    handlers: { a: () => 1, b: () => 1, fine: () => 1 },
    onError: (error) => messages.push((error as Error).message),
    client: {
      ...client,
      async exchange(session, message, signal) {
        const answer = await client.exchange(session, message, signal)
        const spoil = (job: string, input: string | null) => (job === 'fine' ? input : '{')
        const runs = answer.runs.map((run) => ({ ...run, input: spoil(run.job, run.input) }))
        return { ...answer, runs }
      },
    },
  })
  const started = worker.start()
  await clock.advance(10)
  await started
  await client.submit(BROKEN.map((job) => ({ job, input: 1 })))
  await clock.advance(3_500)

  const states = async () => (await node.admin.workers.list('default')).map(({ state }) => state)
  assert.deepEqual(await states(), ['quarantined'])
  assert.match(
    messages.join('\n'),
    /accepts no runs for 5s: 5 attempts in a row could not be started/,
  )
  const waiting = async () => (await client.listRuns({ state: 'ready' })).runs.length
  assert.equal(await waiting(), BROKEN.length - 5, 'the others are left for a worker that can')

  for (const { id } of (await client.listRuns({ state: 'ready' })).runs) await client.cancel(id)
  await client.submit([{ job: 'fine' }])
  await clock.advance(10_000)
  assert.deepEqual(await states(), ['active'])
  assert.equal(await waiting(), 0)
  const stopped = worker.kill()
  await clock.advance(5_000)
  await stopped
})

test('a retry goes to another worker than the one it failed on, when there is one', async () => {
  const { node, clock } = await startInMemory()
  const client = node.clientFor('default')
  const seen: string[] = []
  const workers = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const handler = () => {
        seen.push(name)
        throw new Error('it did not work')
      }
      const options = { client, name, slots: 2, clock, random: () => 0.5 }
      const worker = createWorker({ ...options, handlers: { job: handler } })
      const started = worker.start()
      await clock.advance(10)
      await started
      return worker
    }),
  )
  for (let run = 0; run < 5; run += 1) {
    seen.length = 0
    await client.submit([{ job: 'job', retry: { max: 1, delayMs: 1_000 } }])
    await clock.advance(5_000)
    assert.deepEqual(seen.toSorted(), ['one', 'two'])
  }
  const stopped = Promise.all(workers.map((worker) => worker.kill()))
  await clock.advance(5_000)
  await stopped
})
