import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { PunctualError } from '../../core/errors.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Logger } from '../../core/logging/logger.ts'
import type { SchedulerClient } from '../../core/wire/protocol.ts'
import { StoreError } from '../../store/port.ts'
import {
  createFakeSchedulerClient,
  createProjectRecordingApi,
  createTestApi,
  RUN,
  SESSION,
  TEST_TOKEN,
} from './testing/fake-scheduler.ts'

const scheduler = createFakeSchedulerClient()
const projects: string[] = []
const api = createProjectRecordingApi(scheduler, projects)
after(() => api.close())

const authorization = `Bearer ${TEST_TOKEN}`
const post = (url: string, payload: object, headers: object = {}): InjectOptions => ({
  method: 'POST',
  url,
  headers: { authorization, ...headers },
  payload,
})
const get = (url: string, headers: object = {}): InjectOptions => ({
  method: 'GET',
  url,
  headers: { authorization, ...headers },
})

test('a submission arrives with every field under its protocol name', async () => {
  const reply = await api.inject(
    post('/v1/runs', {
      job: 'send-invoice',
      input: { month: '2026-01' },
      queue: 'mail',
      priority: -3,
      run_at: '2026-01-31T09:00:00.250+02:00',
      runs_on: { labels: { gpu: 'yes' } },
      weight: 2,
      task: 'send-invoice',
      unknown_job: 'refuse',
      timeout: '1h30m',
      retry: { max: 5, backoff: 'linear', delay: '10s', max_delay: '10m', jitter: 0, on: ['exit'] },
      on_lost: 'fail',
      secrets: ['SMTP_PASSWORD', { name: 'TLS_KEY', as: 'file' }],
      concurrency: [{ key: 'c_42', limit: 1 }],
      dedupe_key: 'c_42/2026-01',
      idempotency_key: 'k1',
      after: [{ run: RUN, on: 'any' }],
      tags: { region: 'eu' },
    }),
  )
  assert.equal(reply.statusCode, 201)
  assert.deepEqual(reply.json(), { id: RUN, created: true })
  assert.deepEqual(scheduler.submitted.at(-1), [
    {
      job: 'send-invoice',
      input: { month: '2026-01' },
      queue: 'mail',
      priority: -3,
      runAt: Date.UTC(2026, 0, 31, 7, 0, 0, 250),
      runsOn: { labels: { gpu: 'yes' } },
      weight: 2,
      task: 'send-invoice',
      unknownJob: 'refuse',
      timeoutMs: 5_400_000,
      retry: {
        max: 5,
        backoff: 'linear',
        delayMs: 10_000,
        maxDelayMs: 600_000,
        jitter: 0,
        on: ['exit'],
      },
      onLost: 'fail',
      secrets: [
        { name: 'SMTP_PASSWORD', as: 'env' },
        { name: 'TLS_KEY', as: 'file' },
      ],
      concurrency: [{ key: 'c_42', limit: 1 }],
      dedupeKey: 'c_42/2026-01',
      idempotencyKey: 'k1',
      after: [{ run: RUN, on: 'any' }],
      tags: { region: 'eu' },
      work: undefined,
    },
  ])
})

test('an existing run is answered with 200', async () => {
  const request = post('/v1/runs', { job: 'a' }, { 'idempotency-key': 'again' })
  assert.equal((await api.inject(request)).statusCode, 201)
  const second = await api.inject(request)
  assert.equal(second.statusCode, 200)
  assert.equal(second.json<{ created: boolean }>().created, false)
  assert.equal(second.headers['idempotency-replayed'], 'true')
})

test('a run that only the store can refuse is refused at its position; the others are stored', async () => {
  const refusal = new PunctualError('idempotency_mismatch', 'used for another run', {
    field: 'idempotency_key',
  })
  const submitEach = async () => [{ id: RUN, created: true }, refusal]
  const refusing = createTestApi(createFakeSchedulerClient({ submitEach }))
  after(() => refusing.close())
  const reply = await refusing.inject(
    post('/v1/runs:batch', { runs: [{ job: 'a' }, { job: 'b' }] }),
  )
  assert.equal(reply.statusCode, 200)
  const { runs } = reply.json<{ runs: { error?: { code: string; field: string } }[] }>()
  assert.deepEqual(runs[0], { id: RUN, created: true })
  assert.equal(runs[1]?.error?.code, 'idempotency_mismatch')
  assert.equal(runs[1]?.error?.field, 'runs.1.idempotency_key')
})

test('one header keys every run of a batch', async () => {
  const batch = { runs: [{ job: 'a' }, { job: 'b' }] }
  const reply = await api.inject(post('/v1/runs:batch', batch, { 'idempotency-key': 'k' }))
  assert.equal(reply.statusCode, 200)
  assert.equal(reply.json<{ runs: unknown[] }>().runs.length, 2)
  const keys = scheduler.submitted.at(-1)?.map(({ idempotencyKey }) => idempotencyKey)
  assert.deepEqual(keys, ['k#0', 'k#1'])
})

test('an input is passed on unchanged, including null and awkward names', async () => {
  for (const input of [null, 0, '', [], { toString: 1, hasOwnProperty: '\u202e' }, '😀']) {
    await api.inject(post('/v1/runs', { job: 'a', input }))
    assert.deepEqual(scheduler.submitted.at(-1)?.[0]?.input, input)
  }
})

test('inputs of exactly 8 MiB and 32 levels are accepted', async () => {
  const largest = 'x'.repeat(LIMITS.inputBytes - 2)
  assert.equal((await api.inject(post('/v1/runs', { job: 'a', input: largest }))).statusCode, 201)
  const payload = `{"job":"a","input":${'['.repeat(31)}${']'.repeat(31)}}`
  const headers = { authorization, 'content-type': 'application/json; charset=utf-8' }
  const deep = await api.inject({ method: 'POST', url: '/v1/runs', headers, payload })
  assert.equal(deep.statusCode, 201)
})

test('a run is shown with readable times', async () => {
  const run = (await api.inject(get(`/v1/runs/${RUN}`))).json<Record<string, unknown>>()
  assert.equal(run.created_at, '2026-01-31T09:00:00.000Z')
  assert.equal(run.finished_at, null)
  assert.deepEqual(
    Object.keys(run).filter((name) => /[A-Z]/.test(name)),
    [],
  )
})

test('a list passes its filters on and says where it continues', async () => {
  const page = await api.inject(get('/v1/runs?q=since:1h&state=failed&job=a&limit=500&cursor=MTox'))
  assert.deepEqual(scheduler.heard.list, {
    q: 'since:1h',
    state: 'failed',
    job: 'a',
    limit: 500,
    cursor: 'MTox',
  })
  assert.equal(page.json<{ next_cursor: string }>().next_cursor, 'MTox')
})

test('cancel and retry need no body', async () => {
  const url = `/v1/runs/${RUN}`
  const cancel = await api.inject({
    method: 'POST',
    url: `${url}/cancel`,
    headers: { authorization },
  })
  assert.deepEqual(cancel.json(), { id: RUN, state: 'cancelled' })
  assert.equal((await api.inject(post(`${url}/retry`, {}))).statusCode, 201)
})

test('the project comes from a header, or is the default one', async () => {
  await api.inject(get(`/v1/runs/${RUN}`, { 'punctual-project': 'billing' }))
  await api.inject(get(`/v1/runs/${RUN}`))
  assert.deepEqual(projects.slice(-2), ['billing', 'default'])
})

test('a worker registers, exchanges, sends heartbeats and leaves', async () => {
  const hello = {
    name: 'w1',
    queues: ['default'],
    labels: {},
    executors: ['handler:a'],
    slots: 4,
    registration: 1,
    held: [{ run: RUN, fence: 2 ** 53 - 1 }],
    forsaken: [],
  }
  const welcome = await api.inject(post('/v1/workers', { ...hello, protocol: [1, 2] }))
  assert.equal(welcome.statusCode, 201)
  assert.deepEqual(welcome.json(), {
    session: SESSION,
    session_secret: 'S',
    protocol: 2,
    worker: 'wrk_00000000001',
    lease_ttl_ms: 10_000,
    heartbeat_ms: 3_000,
    lost: [],
  })
  assert.deepEqual(scheduler.heard.hello, { ...hello, protocol: [1, 2] })

  const done = [
    { run: RUN, fence: 1, outcome: 'failed', cause: 'exit', message: 'exit 1', retriable: false },
  ]
  const exchange = { registration: 1, number: 1, answered: 0, done, free: 1, wait_ms: 500 }
  const answer = await api.inject(post(`/v1/workers/${SESSION}/exchange`, exchange))
  assert.equal(scheduler.heard.exchange?.waitMs, 500)
  assert.deepEqual(scheduler.heard.exchange?.done, done)
  const { verdicts, runs } = answer.json<{ verdicts: string[]; runs: Record<string, unknown>[] }>()
  assert.deepEqual(verdicts, ['accepted'])
  assert.equal(runs[0]?.timeout_ms, 900_000)
  assert.equal(runs[0]?.due_at_ms, Date.UTC(2026, 0, 31, 9))

  const beat = { registration: 1, answered: 1, held: [{ run: RUN, fence: 1 }] }
  const beaten = await api.inject(post(`/v1/workers/${SESSION}/heartbeat`, beat))
  assert.deepEqual(beaten.json(), { lost: [], cancels: [RUN] })

  const left = await api.inject(post(`/v1/workers/${SESSION}/leave`, { registration: 1 }))
  assert.equal(left.statusCode, 204)
  assert.equal(scheduler.heard.left, SESSION)
})

test('a mistyped field is answered with the likely one', async () => {
  for (const [typed, meant] of [
    ['runAt', 'run_at'],
    ['timeout_ms', 'timeout'],
    ['priorty', 'priority'],
  ] as const) {
    const { detail } = (await api.inject(post('/v1/runs', { job: 'a', [typed]: 1 }))).json<{
      detail: string
    }>()
    assert.equal(detail, `${typed} is not a field here; did you mean ${meant}?`)
  }
})

test('invalid JSON is answered with the position of the error', async () => {
  for (const [payload, at] of [
    ['{"job":}', 7],
    ['{"job":"a"}x', 11],
    ['{"job":"a"', 10],
    ['{"job":tru}', 10],
    [`{"job":"a","input":[${'1,'.repeat(500)}]}`, 1_020],
  ] as const) {
    const headers = { authorization, 'content-type': 'application/json' }
    const reply = await api.inject({ method: 'POST', url: '/v1/runs', headers, payload })
    assert.equal(
      reply.json<{ detail: string }>().detail,
      `the body is not valid JSON at character ${at}`,
    )
  }
})

const failing = (error: Error): Partial<SchedulerClient> => ({
  getRun: async () => {
    throw error
  },
})

test('a refusal of the scheduler keeps its code; a wait has a duration', async () => {
  for (const [error, status, code] of [
    [new PunctualError('run_is_final', 'the run has already succeeded'), 409, 'run_is_final'],
    [new PunctualError('overloaded', 'too much'), 503, 'overloaded'],
    [new StoreError('unknown', 'connection reset around COMMIT'), 503, 'store_unavailable'],
    [new StoreError('refused', 'syntax error at "SELECT"'), 500, 'internal'],
  ] as const) {
    const failed = createTestApi(createFakeSchedulerClient(failing(error)))
    const reply = await failed.inject(get(`/v1/runs/${RUN}`))
    assert.deepEqual([reply.statusCode, reply.json<{ code: string }>().code], [status, code])
    assert.equal(reply.headers['retry-after'], status === 503 ? '1' : undefined)
    await failed.close()
  }
})

function keepLog() {
  const records: object[] = []
  const keep = (level: string) => (message: string, fields: object) =>
    void records.push({ level, message, ...fields })
  return {
    records,
    log: { error: keep('error'), warn: keep('warn'), info: keep('info') } as Logger,
  }
}

test('server failures are logged; caller errors are not', async () => {
  for (const [error, levels] of [
    [new StoreError('unavailable', 'connection reset'), ['warn']],
    [new PunctualError('storage_full', 'no room'), ['warn']],
    [new PunctualError('overloaded', 'too much'), []],
    [new PunctualError('run_is_final', 'the run has already succeeded'), []],
  ] as const) {
    const { log, records } = keepLog()
    const failed = createTestApi(createFakeSchedulerClient(failing(error)), { log })
    await failed.inject(get(`/v1/runs/${RUN}`))
    assert.deepEqual(
      records.map((record) => (record as { level: string }).level),
      levels,
      error.message,
    )
    await failed.close()
  }
})

test('a bug gives the caller only an id, and the log the same id and the error', async () => {
  const bug = new TypeError('cannot read /srv/secret.ts')
  const { log, records } = keepLog()
  const failed = createTestApi(createFakeSchedulerClient(failing(bug)), { log })
  const reply = await failed.inject(get(`/v1/runs/${RUN}`))
  assert.equal(reply.statusCode, 500)
  const id = reply.json<{ request_id: string }>().request_id
  assert.match(id, /^req_/)
  assert.equal(reply.headers['x-request-id'], id)
  const fields = { request_id: id, method: 'GET', route: '/v1/runs/:id', status: 500 }
  assert.deepEqual(records, [
    { level: 'error', message: 'a request failed', ...fields, code: 'internal', error: bug },
  ])
  assert.doesNotMatch(reply.body, /secret|cannot read|\bat\b.*\.ts|stack/)
  await failed.close()
})
