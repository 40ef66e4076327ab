import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { PunctualError } from '../core/errors.ts'
import type { SchedulerClient, Submission } from '../core/wire/protocol.ts'
import {
  createFakeSchedulerClient,
  createProjectRecordingApi,
  exampleRun,
  RUN,
  SESSION,
  TEST_TOKEN,
} from '../server/api/testing/fake-scheduler.ts'
import { CallError, connect } from './index.ts'

/** The real API over a real socket, with a scheduler that only records calls. */
async function open(t: TestContext, overrides: Partial<SchedulerClient> = {}) {
  const scheduler = createFakeSchedulerClient(overrides)
  const projects: string[] = []
  const api = createProjectRecordingApi(scheduler, projects)
  await api.listen({ port: 0, host: '127.0.0.1' })
  const url = `http://127.0.0.1:${(api.server.address() as AddressInfo).port}`
  const client = connect({ url, token: TEST_TOKEN, project: 'billing' })
  t.after(async () => {
    await client.close()
    await api.close()
  })
  return { scheduler, client, projects, url }
}

test('every field of a submission arrives unchanged', async (t) => {
  const { scheduler, client, projects } = await open(t)
  const submission: Submission = {
    job: 'send-invoice',
    input: { month: '2026-01', deep: [null, '😀'] },
    queue: 'mail',
    priority: 3,
    runAt: Date.UTC(2026, 0, 31, 9, 0, 0, 250),
    runsOn: { labels: { gpu: 'yes' } },
    unknownJob: 'refuse',
    weight: 2,
    task: 'send-invoice',
    timeoutMs: 900_000,
    retry: {
      max: 5,
      backoff: 'fixed',
      delayMs: 10_000,
      maxDelayMs: 60_000,
      jitter: 0.5,
      on: ['exit'],
    },
    onLost: 'fail',
    concurrency: [{ key: 'c_42', limit: 1 }],
    dedupeKey: 'c_42/2026-01',
    idempotencyKey: 'k',
    tags: { region: 'eu' },
    secrets: [{ name: 'MAIL_KEY', as: 'file' }],
    work: undefined,
    after: [{ run: RUN, on: 'any' }],
  }
  assert.deepEqual(await client.submit([submission]), [{ id: RUN, created: true }])
  assert.deepEqual(scheduler.submitted, [[submission]])
  assert.deepEqual(projects, ['billing'])
})

for (const work of [
  { executor: 'shell', run: 'a | b', shell: '/bin/bash', stdin: 'x' },
  { executor: 'argv', argv: ['ls', '-l'], cwd: '/', env: { A: 'b' }, umask: '027' },
  { executor: 'script', script: 'print(1)', interpreter: ['python3'], kill_grace_ms: 1_500 },
  {
    executor: 'argv',
    argv: ['x'],
    limits: { memory_bytes: 1_048_577, cpu: 0.5 },
    run_as: 'deploy',
  },
] as const) {
  test(`work for ${work.executor} with ${Object.keys(work).length} fields arrives unchanged`, async (t) => {
    const { scheduler, client } = await open(t)
    await client.submit([{ job: 'adhoc', work }])
    assert.deepEqual(scheduler.submitted[0]?.[0]?.work, work)
  })
}

test('a run, a page, a cancel and a retry return what the scheduler returned', async (t) => {
  const { client, scheduler } = await open(t)
  assert.deepEqual(await client.getRun(RUN), exampleRun(RUN))
  const query = { q: 'job:a', state: 'failed', job: 'a', limit: 10, cursor: 'MTox' } as const
  assert.deepEqual(await client.listRuns(query), { runs: [exampleRun(RUN)], next: 'MTox' })
  assert.deepEqual(scheduler.heard.list, query)
  assert.equal((await client.listRuns()).runs.length, 1)
  assert.deepEqual(await client.cancel(RUN), { id: RUN, state: 'cancelled' })
  assert.equal((await client.retry(RUN)).created, true)
})

test('a worker can use the client', async (t) => {
  const { client, scheduler } = await open(t)
  const hello = {
    name: 'w1',
    projects: ['billing'],
    queues: ['default'],
    labels: {},
    executors: ['handler:a'],
    slots: 4,
    registration: 1,
    held: [{ run: RUN, fence: 2 ** 53 - 1 }],
    forsaken: [],
  }
  const { session, leaseTtlMs } = await client.register(hello)
  assert.deepEqual([session, leaseTtlMs, scheduler.heard.hello], [SESSION, 10_000, hello])
  const done = [{ run: RUN, fence: 7, outcome: 'succeeded', result: '{"pages":3}' }] as const
  const message = { registration: 1, number: 1, answered: 0, done, free: 1, waitMs: 10 }
  const answer = await client.exchange({ id: session }, message)
  assert.deepEqual(scheduler.heard.exchange, message)
  assert.deepEqual(answer.verdicts, ['accepted'])
  assert.equal(answer.runs[0]?.timeoutMs, 900_000)
  const beat = { registration: 1, answered: 1, held: [{ run: RUN, fence: 7 }] }
  assert.deepEqual(await client.heartbeat({ id: session }, beat), { lost: [], cancels: [RUN] })
  await client.leave({ id: session }, 1)
  assert.equal(scheduler.heard.left, session)
})

test('calls of one turn share a request, and calls made during it share the next', async (t) => {
  const release = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  const sizes: number[] = []
  const { client } = await open(t, {
    async submitEach(submissions) {
      sizes.push(submissions.length)
      arrived.resolve()
      await release.promise
      return submissions.map(({ job }) => ({ id: job, created: true }))
    },
  })
  const first = Array.from({ length: 10 }, (_, i) => client.submit([{ job: `a${i}` }]))
  await arrived.promise
  const later = Array.from({ length: 30 }, (_, i) =>
    client.submit([{ job: `b${i}` }, { job: `c${i}` }]),
  )
  release.resolve()
  const answers = await Promise.all([...first, ...later])
  assert.deepEqual(sizes, [10, 60])
  assert.deepEqual(answers[3], [{ id: 'a3', created: true }])
  assert.deepEqual(answers[39], [
    { id: 'b29', created: true },
    { id: 'c29', created: true },
  ])
})

test('a shared request contains at most 1,000 runs; one large call stays whole', async (t) => {
  const { client, scheduler } = await open(t)
  await Promise.all(Array.from({ length: 2_500 }, () => client.submit([{ job: 'a' }])))
  assert.deepEqual(
    scheduler.submitted.map((batch) => batch.length),
    [1_000, 1_000, 500],
  )
  await client.submit(Array.from({ length: 10_000 }, () => ({ job: 'a' })))
  assert.equal(scheduler.submitted.at(-1)?.length, 10_000)
})

test('an error in one call is reported to its caller alone, with its own indexes', async (t) => {
  const { client, scheduler } = await open(t)
  const [good, bad, also] = await Promise.allSettled([
    client.submit([{ job: 'a' }, { job: 'b' }]),
    client.submit([{ job: 'c' }, { job: 'd', priority: 99 }]),
    client.submit([{ job: 'e' }]),
  ])
  assert.equal(good.status, 'fulfilled')
  assert.equal(also.status, 'fulfilled')
  assert.ok(bad.status === 'rejected' && bad.reason instanceof CallError)
  assert.deepEqual(
    [bad.reason.code, bad.reason.field, bad.reason.outcome],
    ['invalid_field', 'runs.1.priority', 'refused'],
  )
  assert.match(bad.reason.message, /^runs\.1\.priority must be/)
  assert.deepEqual(
    scheduler.submitted.flat().map(({ job }) => job),
    ['a', 'b', 'e'],
  )
})

test('a key that was used for something else fails its own call only', async (t) => {
  const { client } = await open(t, {
    submitEach: async (submissions) =>
      submissions.map(({ idempotencyKey }) =>
        idempotencyKey === 'used'
          ? new PunctualError('idempotency_mismatch', 'the key was used with another body')
          : { id: RUN, created: true },
      ),
  })
  const outcomes = await Promise.allSettled(
    ['k1', 'used', 'k2'].map((idempotencyKey) => client.submit([{ job: 'a', idempotencyKey }])),
  )
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

test('an input that is not valid JSON fails before it joins a batch', async (t) => {
  const { client } = await open(t)
  const [bad, good] = await Promise.allSettled([
    client.submit([{ job: 'a', input: 1n }]),
    client.submit([{ job: 'a' }]),
  ])
  assert.ok(bad.status === 'rejected' && (bad.reason as PunctualError).field === 'runs.0.input')
  assert.equal(good.status, 'fulfilled')
})

test('errors keep their code, message and field', async (t) => {
  const { client, url } = await open(t)
  await assert.rejects(client.getRun('nonsense'), {
    code: 'invalid_id',
    field: 'id',
    outcome: 'refused',
  })
  await assert.rejects(client.getRun('run_00000000002'), { code: 'run_not_found', status: 404 })
  const stranger = connect({ url, token: 'wrong' })
  t.after(() => stranger.close())
  await assert.rejects(stranger.getRun(RUN), { code: 'unauthorized' })
})

test('a poll aborted by its caller ends at once', async (t) => {
  const polling = Promise.withResolvers<AbortSignal>()
  const { client } = await open(t, {
    exchange(_session, message, signal) {
      polling.resolve(signal as AbortSignal)
      return new Promise((resolve) => {
        signal?.addEventListener('abort', () =>
          resolve({ number: message.number, verdicts: [], runs: [] }),
        )
      })
    },
  })
  const giveUp = new AbortController()
  const message = { registration: 1, number: 1, answered: 0, done: [], free: 1, waitMs: 20_000 }
  const poll = client.exchange({ id: SESSION }, message, giveUp.signal)
  const serverSide = await polling.promise
  giveUp.abort()
  await assert.rejects(poll, { name: 'AbortError' })
  if (!serverSide.aborted)
    await new Promise((resolve) => serverSide.addEventListener('abort', resolve))
})

for (const [why, options] of [
  ['no url', { url: [], token: TEST_TOKEN }],
  ['no protocol', { url: 'localhost:7420', token: TEST_TOKEN }],
  ['another protocol', { url: 'file:///etc', token: TEST_TOKEN }],
  ['no token', { url: 'http://localhost', token: '' }],
  ['a token with a line break', { url: 'http://localhost', token: 'a\r\nb' }],
] as const) {
  test(`${why} is a configuration error`, () => {
    assert.throws(() => connect(options), { code: 'config_invalid' })
  })
}
