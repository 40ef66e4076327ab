import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWorker } from '../../src/worker/index.ts'
import { startInMemory } from './scheduler-in-memory.ts'
import { registerManualWorker, succeeded } from './manual-worker.ts'

interface Start {
  readonly worker: string
  readonly queue: string
  end(): void
}

/** Real workers whose runs continue until the test ends them, and every start in order. */
async function startSetup() {
  const { node, clock } = await startInMemory()
  const client = node.clientFor('default')
  const starts: Start[] = []
  const work = async (name: string, queues: string[], slots: number) => {
    const handler = (queue: unknown) =>
      new Promise<void>((resolve) => {
        starts.push({ worker: name, queue: queue as string, end: resolve })
      })
    const worker = createWorker({
      client,
      name,
      queues,
      slots,
      clock,
      random: () => 0.5,
      handlers: { job: handler },
    })
    const started = worker.start()
    await clock.advance(10)
    await started
    return worker
  }
  const submit = (queue: string, count: number) =>
    client.submit(Array.from({ length: count }, () => ({ job: 'job', queue, input: queue })))
  return { clock, starts, work, submit }
}

test('a slot of a strong worker takes heavy work first, and light work when there is none', async () => {
  const { clock, starts, work, submit } = await startSetup()
  await submit('light', 40)
  const workers = [await work('strong', ['heavy', 'light'], 2), await work('weak', ['light'], 2)]
  assert.equal(starts.filter(({ worker }) => worker === 'strong').length, 2, 'idle: it helps out')

  for (let round = 0; round < 5; round += 1) {
    await submit('heavy', 1)
    await clock.advance(5)
    const before = starts.length
    starts.findLast(({ worker }) => worker === 'strong')?.end()
    starts.findLast(({ worker }) => worker === 'weak')?.end()
    await clock.advance(5)
    const next = starts.slice(before)
    assert.deepEqual(
      next.map(({ worker, queue }) => `${worker} ${queue}`).toSorted(),
      ['strong heavy', 'weak light'],
      `round ${round}`,
    )
  }
  for (const start of starts) start.end()
  const stopped = Promise.all(workers.map((worker) => worker.kill()))
  await clock.advance(5_000)
  await stopped
})

test('a light run goes to a weak worker while a strong one is idle too', async () => {
  const { clock, starts, work, submit } = await startSetup()
  const workers = [await work('strong', ['heavy', 'light'], 1), await work('weak', ['light'], 1)]
  await clock.advance(2_000)
  await submit('light', 1)
  await clock.advance(5)
  await submit('heavy', 1)
  await clock.advance(5)
  assert.deepEqual(
    starts.map(({ worker, queue }) => `${worker} ${queue}`),
    ['weak light', 'strong heavy'],
  )
  for (const start of starts) start.end()
  const stopped = Promise.all(workers.map((worker) => worker.kill()))
  await clock.advance(5_000)
  await stopped
})

test('a run that needs a whole worker starts, although lighter ones keep coming', async () => {
  const { node } = await startInMemory()
  const client = node.clientFor('default')
  const worker = await registerManualWorker(client, { jobs: ['light', 'whole'], slots: 4 })
  await client.submit(Array.from({ length: 200 }, () => ({ job: 'light' })))
  const running = [...(await worker.take(4))]
  await client.submit([{ job: 'whole', weight: 4 }])
  let ended = 0
  // One ends at a time, so that four slots are never free by chance.
  while (running.at(-1)?.job !== 'whole') {
    const done = running.shift()
    assert.ok(done, 'all slots are free, and the heavy run was not given')
    ended += 1
    assert.ok(ended < 20, 'the heavy run starves')
    running.push(...(await worker.report([succeeded(done)], 4 - running.length)).runs)
  }
  assert.equal(running.length, 1)
})
