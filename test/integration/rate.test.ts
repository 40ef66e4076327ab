import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type InMemoryScheduler, startInMemory } from './scheduler-in-memory.ts'
import { type ManualWorker, registerManualWorker, succeeded } from './manual-worker.ts'

const BY = { project: 'default', actor: null, request: null, address: null }
const RATE = { limit: 10, perMs: 1_000, burst: 3 }

/** Takes every grant for a period; returns the time of each start. */
async function workFor(
  workers: readonly ManualWorker[],
  { clock }: InMemoryScheduler,
  ms: number,
): Promise<number[]> {
  const starts: number[] = []
  const untilMono = clock.mono() + ms
  const work = async (worker: ManualWorker) => {
    let { runs } = await worker.exchange({ waitMs: 20_000 })
    while (clock.mono() < untilMono) {
      for (const _ of runs) starts.push(clock.mono())
      const done = runs.map(succeeded)
      runs = (await worker.exchange({ done, waitMs: 20_000 })).runs
      if (runs.length === 0) ({ runs } = await worker.exchange({ waitMs: 20_000 }))
    }
  }
  const working = workers.map(work)
  await clock.advance(ms + 25_000)
  await Promise.all(working)
  return starts.filter((at) => at <= untilMono)
}

function assertWithin(starts: readonly number[], { limit, perMs, burst }: typeof RATE): void {
  for (const [first, from] of starts.entries()) {
    for (let last = first; last < starts.length; last += 1) {
      const windowMs = (starts[last] as number) - from
      const most = burst + (windowMs * limit) / perMs
      assert.ok(last - first + 1 <= most, `${last - first + 1} starts in ${windowMs} ms`)
    }
  }
}

test('a queue keeps its rate across two nodes, uses all of it, and is not polled all the time', async () => {
  let ticks = 0
  const first = await startInMemory({
    wrap: (store) => ({
      ...store,
      tick(batch) {
        ticks += 1
        return store.tick(batch)
      },
    }),
  })
  const second = await startInMemory({ beside: first })
  await first.node.admin.queues.change(BY, 'mail', { rate: RATE })
  await first.clock.advance(1_500)
  const runs = Array.from({ length: 300 }, () => ({ job: 'job', queue: 'mail' }))
  await first.node.clientFor('default').submit(runs)
  const workers = await Promise.all(
    [first, second].map(({ node }) =>
      registerManualWorker(node.clientFor('default'), { queues: ['mail'] }),
    ),
  )
  ticks = 0
  const starts = await workFor(workers, first, 10_000)
  assertWithin(starts, RATE)
  assert.ok(starts.length >= 95, `${starts.length} of about 100 were used`)
  // Each start is a claim and an end; a few more claims find that the other node was faster.
  assert.ok(ticks < 1_500, `${ticks} ticks`)
})

test('with the rate used up, a run is not assigned directly to a waiting worker', async () => {
  const world = await startInMemory()
  const client = world.node.clientFor('default')
  await world.node.admin.queues.change(BY, 'mail', {
    rate: { limit: 1, perMs: 10_000, burst: 1 },
  })
  const worker = await registerManualWorker(client, { queues: ['mail', 'default'] })
  const taking = worker.exchange({ waitMs: 20_000 })
  await world.clock.advance(100)
  await client.submit([{ job: 'job', queue: 'mail' }])
  const [run] = (await taking).runs
  assert.ok(run, 'the first may start at once')

  const next = worker.exchange({ done: [succeeded(run)], waitMs: 20_000 })
  const [limited] = await client.submit([{ job: 'job', queue: 'mail' }])
  await world.clock.advance(5_000)
  const [other] = await client.submit([{ job: 'job' }])
  await world.clock.advance(10)
  const meanwhile = (await next).runs
  assert.deepEqual(
    meanwhile.map((given) => given.run),
    [other?.id],
    'other queues go on meanwhile',
  )

  const last = worker.exchange({ done: meanwhile.map(succeeded), waitMs: 20_000 })
  let given: readonly string[] = []
  void last.then(({ runs }) => (given = runs.map((one) => one.run)))
  await world.clock.advance(4_900)
  assert.deepEqual(given, [])
  await world.clock.advance(200)
  assert.deepEqual(given, [limited?.id])
})

test('a rate that is raised or removed applies at once', async () => {
  const world = await startInMemory()
  const client = world.node.clientFor('default')
  const set = (rate: typeof RATE | null) => world.node.admin.queues.change(BY, 'mail', { rate })
  await set({ limit: 1, perMs: 3_600_000, burst: 1 })
  const worker = await registerManualWorker(client, { queues: ['mail'] })
  await client.submit(Array.from({ length: 5 }, () => ({ job: 'job', queue: 'mail' })))
  assert.equal((await worker.take()).length, 1)
  const waiting = worker.exchange({ free: 9, waitMs: 20_000 })
  await world.clock.advance(1_000)
  await set(null)
  await world.clock.advance(10)
  assert.equal((await waiting).runs.length, 4)
})

test('a clock that is set back while a queue has used up its rate closes it no longer than the rate does', async () => {
  const world = await startInMemory()
  const client = world.node.clientFor('default')
  const rate = { limit: 10, perMs: 50_000, burst: 1 }
  await world.node.admin.queues.change(BY, 'mail', { rate })
  const worker = await registerManualWorker(client, { queues: ['mail'] })
  await client.submit([
    { job: 'job', queue: 'mail' },
    { job: 'job', queue: 'mail' },
  ])
  assert.equal((await worker.take()).length, 1)
  const waiting = worker.exchange({ free: 9, waitMs: 20_000 })
  await world.clock.advance(1_000)
  world.clock.jumpWall(-3_600_000)
  let given = 0
  void waiting.then(({ runs }) => (given = runs.length))
  await world.clock.advance(3_900)
  assert.equal(given, 0, 'it is not opened earlier, either')
  // How much of the wait had passed is no longer known.
  await world.clock.advance(5_200)
  assert.equal(given, 1)
})
