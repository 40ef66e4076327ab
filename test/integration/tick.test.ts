import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PunctualError } from '../../src/core/errors.ts'
import { StoreError, type Store, type TickBatch } from '../../src/store/port.ts'
import { startInMemory } from './scheduler-in-memory.ts'
import { registerManualWorker, succeeded } from './manual-worker.ts'

/** The same store with another `tick`. */
const withTick = (tick: (batch: TickBatch, store: Store) => ReturnType<Store['tick']>) => {
  return (store: Store): Store => ({ ...store, tick: (batch) => tick(batch, store) })
}

const hasPoison = (batch: TickBatch) => batch.submits.some(({ input }) => input === '"poison"')

test('items that arrive while a tick runs go into the next one together', async () => {
  const sizes: number[] = []
  const { node } = await startInMemory({
    wrap: withTick((batch, store) => {
      sizes.push(batch.submits.length)
      return store.tick(batch)
    }),
  })
  const client = node.clientFor('default')
  await client.submit([{ job: 'warm' }])
  await Promise.all(Array.from({ length: 100 }, () => client.submit([{ job: 'warm' }])))
  assert.deepEqual(
    sizes.filter((size) => size > 0),
    [1, 100],
  )
})

test('a poison item is refused alone; every other item of its batch is stored', async () => {
  const { node } = await startInMemory({
    wrap: withTick(async (batch, store) => {
      if (hasPoison(batch)) throw new StoreError('refused', 'this cannot be stored')
      return store.tick(batch)
    }),
  })
  const client = node.clientFor('default')
  const worker = await registerManualWorker(client, { jobs: ['job'] })
  await client.submit([{ job: 'job' }])
  const [run] = await worker.take()
  assert.ok(run)
  const [outcomes, report] = await Promise.all([
    client.submitEach([{ job: 'a' }, { job: 'a', input: 'poison' }, { job: 'a' }]),
    worker.report([succeeded(run)]),
  ])
  assert.deepEqual(
    outcomes.map((outcome) => outcome instanceof PunctualError),
    [false, true, false],
  )
  assert.deepEqual(report.verdicts, ['accepted'])
  assert.equal((await client.listRuns({ job: 'a' })).runs.length, 2)
})

test('a commit whose answer was lost is repeated under the same id', async () => {
  let lost = 1
  const { node, clock } = await startInMemory({
    wrap: withTick(async (batch, store) => {
      const result = await store.tick(batch)
      if (batch.submits.length > 0 && lost > 0) {
        lost -= 1
        throw new StoreError('unknown', 'the connection broke')
      }
      return result
    }),
  })
  const client = node.clientFor('default')
  const answer = client.submit([{ job: 'once' }])
  await clock.advance(1_000)
  const [submitted] = await answer
  const { runs } = await client.listRuns({ job: 'once' })
  assert.deepEqual(
    runs.map(({ id }) => id),
    [submitted?.id],
  )
})

test('a run assigned by an unconfirmed commit is given back and taken again', async () => {
  let lost = 1
  const { node, clock } = await startInMemory({
    wrap: withTick(async (batch, store) => {
      const result = await store.tick(batch)
      if (batch.submits.some(({ reservation }) => reservation) && lost > 0) {
        lost -= 1
        throw new StoreError('unknown', 'the connection broke')
      }
      return result
    }),
  })
  const client = node.clientFor('default')
  const worker = await registerManualWorker(client)
  await worker.take()
  const answer = worker.exchange({ waitMs: 10_000 })
  const submitted = client.submit([{ job: 'job' }])
  await clock.advance(3_000)
  const [run] = (await answer).runs
  assert.equal(run?.run, (await submitted)[0]?.id)
  assert.equal(run?.attempt, 1)
})

const UNHEARD: [what: string, first: object, end: 'failed' | 'succeeded', then: object | null][] = [
  ['a run that was submitted', {}, 'succeeded', {}],
  ['a run that goes again', { retry: { max: 1, delayMs: 0, jitter: 0 } }, 'failed', null],
  ['a run whose gate has opened', { concurrency: [{ key: 'a', limit: 1 }] }, 'succeeded', null],
]
for (const [what, first, outcome, then] of UNHEARD) {
  test(`${what} by a commit whose answer was lost does not wait for a lane refresh`, async () => {
    let lost = 0
    const { node, clock } = await startInMemory({
      config: { laneRefreshMs: 60_000 },
      wrap: withTick(async (batch, store) => {
        const result = await store.tick(batch)
        if (batch.submits.length + batch.ends.length > 0 && lost > 0) {
          lost -= 1
          throw new StoreError('unknown', 'the connection broke')
        }
        return result
      }),
    })
    const client = node.clientFor('default')
    const worker = await registerManualWorker(client)
    const submit = (policy: object) => client.submit([{ job: 'job', ...policy }])
    await submit(first)
    const [run] = await worker.take()
    assert.ok(run)
    if ('concurrency' in first) await submit(first)
    const end = () => worker.report([{ ...succeeded(run), outcome, cause: 'error' }], 0)
    if (then) await end()
    assert.deepEqual(await worker.take(), [], 'now the lane is known to be empty')
    // Without free slots nothing is assigned directly: the assigned run is found among the leases.
    await worker.take(0)
    lost = 1
    const answered = then ? submit(then) : end()
    await clock.advance(50)
    await answered
    let given = 0
    void worker.exchange({ waitMs: 5_000 }).then(({ runs }) => (given = runs.length))
    await clock.advance(0)
    assert.deepEqual([given, lost], [1, 0])
  })
}

test('a store that stays unavailable is reported as such after a while', async () => {
  let isAway = false
  const { node, clock } = await startInMemory({
    wrap: withTick(async (batch, store) => {
      if (isAway) throw new StoreError('unavailable', 'no route to the database')
      return store.tick(batch)
    }),
  })
  const client = node.clientFor('default')
  await client.submit([{ job: 'a' }])
  isAway = true
  const answer = assert.rejects(client.submit([{ job: 'a' }]), { code: 'store_unavailable' })
  await clock.advance(15_000)
  await answer
  isAway = false
  const later = client.submit([{ job: 'a' }])
  await clock.advance(2_000)
  assert.equal((await later).length, 1)
})

test('a full disk is answered at once, even while the ticker pauses, and nothing is stored', async () => {
  let isFull = false
  const { node, clock } = await startInMemory({
    wrap: withTick(async (batch, store) => {
      if (isFull) throw new StoreError('unavailable', '0 bytes free', { trouble: 'full' })
      return store.tick(batch)
    }),
  })
  const client = node.clientFor('default')
  const [first] = await client.submit([{ job: 'a' }])
  isFull = true
  // The clock stands still, so no deadline can pass.
  const problem = { code: 'storage_full', message: 'the disk is full: 0 bytes free' }
  await assert.rejects(client.submit([{ job: 'a' }]), problem)
  await assert.rejects(client.submit([{ job: 'a' }]), problem)
  await assert.rejects(client.cancel(first?.id ?? ''), problem)
  isFull = false
  await clock.advance(2_000)
  assert.equal((await client.submit([{ job: 'a' }])).length, 1)
  assert.equal((await client.listRuns({ job: 'a' })).runs.length, 2)
})

test('work beyond the pending limit is refused, and none of it is stored', async () => {
  const { node } = await startInMemory({ config: { maxPending: 10 } })
  const client = node.clientFor('default')
  await client.submit([{ job: 'a' }])
  const outcomes = await Promise.allSettled(
    Array.from({ length: 4 }, () => client.submit(Array.from({ length: 8 }, () => ({ job: 'a' })))),
  )
  const refused = outcomes.filter(({ status }) => status === 'rejected').length
  assert.ok(refused > 0)
  assert.equal((await client.listRuns({ job: 'a', limit: 500 })).runs.length, 1 + (4 - refused) * 8)
})

test('reading an unused project or job creates nothing', async () => {
  const { node, engine } = await startInMemory()
  const client = node.clientFor('nobody')
  assert.deepEqual(await client.listRuns({ job: 'none' }), { runs: [], next: null })
  await assert.rejects(client.getRun('run_00000000001'), { code: 'run_not_found' })
  assert.equal(engine.raw.prepare('SELECT count(*) AS n FROM project').pluck().get(), 0)
})

test('a stopped node has no open timers: its process can exit at once', async () => {
  const { node, clock, errors } = await startInMemory()
  const client = node.clientFor('default')
  const worker = await registerManualWorker(client)
  await client.submit([{ job: 'job' }])
  assert.equal((await worker.take()).length, 1)
  await node.stop()
  assert.deepEqual([clock.sleeping(), errors], [0, []])
})
