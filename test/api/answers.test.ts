import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { mintSecret, signedHeaders } from '../../src/server/webhooks/signing.ts'
import { waitFor } from '../support/wait-for.ts'
import { type ApiAnswer, openApi } from './open-api.ts'
import { type Document, operationsOf } from './openapi-document.ts'
import { createSchemaCheck } from './schema-check.ts'

/** Calls checked against the API reference: status, type, headers and body must match. */
async function openReference(t: TestContext) {
  const api = await openApi(t)
  const { body: document } = await api.call<Document>('GET', '/openapi.json')
  const check = createSchemaCheck(document)
  const operations = operationsOf(document)
  const unseen = new Set(operations.map(({ method, path }) => `${method} ${path}`))

  const ask = async <T = Record<string, never>>(
    name: string,
    {
      parts = {},
      query = '',
      ...options
    }: {
      parts?: Record<string, string>
      query?: string
      body?: unknown
      headers?: Record<string, string>
    } = {},
  ): Promise<ApiAnswer<T>> => {
    const operation = operations.find(({ method, path }) => `${method} ${path}` === name)
    assert.ok(operation, `${name} is not in the reference`)
    const path = operation.path.replace(/\{(\w+)\}/g, (_, part: string) => parts[part] as string)
    const answer = await api.call<T>(operation.method, path + query, options)
    unseen.delete(name)
    const declared = operation.responses[answer.status]
    assert.ok(declared, `${name} gave ${answer.status}: ${JSON.stringify(answer.body)}`)
    for (const header of Object.keys(declared.headers ?? {})) {
      const isSure = document.components.headers[header]?.required
      assert.ok(!isSure || answer.headers.has(header), `${name} gave no ${header}`)
    }
    const type = answer.headers.get('content-type')?.split(';', 1)[0]
    const content = Object.entries(declared.content ?? {})[0]
    assert.equal(type, content?.[0], name)
    if (content) assert.equal(check(content[1].schema, answer.body), undefined, name)
    return answer
  }
  return { api, ask, unseen }
}

type Ask = Awaited<ReturnType<typeof openReference>>['ask']

/** One schedule with every field, one minimal one, and every operation on them. */
async function askSchedules(ask: Ask) {
  const nightly = { parts: { name: 'hello', schedule: 'nightly' } }
  const AT = '/v1/jobs/{name}/schedules/{schedule}'
  const body = {
    cron: 'H 2 * * 1-5',
    zone: 'Europe/Athens',
    dst: { gap: 'skip', repeat: 'both' },
    start: '2026-01-01T00:00:00Z',
    end: '2999-01-01T00:00:00Z',
    jitter: '2m',
    overlap: 'queue(3)',
    missed: { policy: 'all', max_age: '6h', max_count: 9, every: '5s' },
    input: { a: [1] },
    priority: 3,
    deadline: '3h',
    expect: { duration: '10m' },
  }
  for (const status of [201, 200]) {
    assert.equal((await ask(`PUT ${AT}`, { ...nightly, body })).status, status)
  }
  await ask(`GET ${AT}`, nightly)
  await ask(`POST ${AT}/skip`, nightly)
  await ask(`POST ${AT}/pause`, {
    ...nightly,
    body: { reason: 'lunch', until: '2998-01-01T00:00:00Z' },
  })
  const past = { from: '2026-01-01T00:00:00Z', until: '2026-01-03T00:00:00Z' }
  await ask(`POST ${AT}/backfill`, { ...nightly, body: { ...past, dry_run: true } })
  const { body: made } = await ask<{ id: string }>(`POST ${AT}/backfill`, {
    ...nightly,
    body: past,
  })
  await ask('GET /v1/backfills')
  await ask('GET /v1/backfills/{id}', { parts: made })
  await ask('POST /v1/backfills/{id}/cancel', { parts: made })
  await ask('GET /v1/forecast', { query: '?days=366' })
  await ask('GET /v1/schedules', { query: '?state=paused&job=hello' })
  await ask(`GET ${AT}/why`, nightly)
  await ask(`POST ${AT}/resume`, nightly)
  await ask(`POST ${AT}/run`, nightly)
  const often = { parts: { name: 'hello', schedule: 'often' } }
  await ask(`PUT ${AT}`, { ...often, body: { every: '1s' } })
  await ask(`POST ${AT}/skip`, often)
  await waitFor(
    async () => {
      const { body: page } = await ask<{ data: object[] }>(`GET ${AT}/occurrences`, often)
      const { body: away } = await ask<{ schedules: object[] }>('GET /v1/away')
      return page.data.length > 2 && away.schedules.length > 0
    },
    { what: 'times that came, and one that did not simply fire' },
  )
  await ask('GET /v1/schedules/next', { query: '?limit=3' })
  await ask('POST /v1/schedules/preview', { body: { ...body, count: 2 } })
  await ask('GET /v1/jobs/{name}', { parts: { name: 'hello' } })
  for (const one of [nightly, often]) await ask(`DELETE ${AT}`, one)
}

/** A workflow with an approval that is approved, refused, and retried from a step. */
async function askWorkflows(ask: Ask) {
  const job = { parts: { name: 'flow' } }
  const steps = {
    list: { argv: ['true'], each: [1, 2] },
    ask: { needs: 'list', approve: { message: 'Go?', timeout: '1h', by: ['ada'] } },
    more: { approve: { input: { why: { type: 'string', enum: ['a', 'b'] } } }, needs: 'list' },
    last: { argv: ['true'], needs: ['ask', 'more'] },
  }
  await ask('PUT /v1/jobs/{name}', { ...job, body: { steps } })
  const { body: run } = await ask<{ id: string }>('POST /v1/jobs/{name}/runs', { ...job, body: {} })
  const at = (step: string) => ({ parts: { id: run.id, step } })
  const show = async (step: string) => {
    const { body } = await ask<{ state: string }>('GET /v1/runs/{id}/steps/{step}', at(step))
    return body.state
  }
  await waitFor(async () => (await show('ask')) === 'waiting', { what: 'the step to ask' })
  await ask('GET /v1/runs/{id}', { parts: { id: run.id } })
  await ask('GET /v1/runs/{id}/why', { parts: { id: run.id } })
  await ask('GET /v1/runs/{id}/steps/{step}/items', at('list'))
  await ask('POST /v1/runs/{id}/steps/{step}/skip', at('last'))
  const body = { input: { why: 'b' }, message: 'fine' }
  await ask('POST /v1/runs/{id}/steps/{step}/approve', { ...at('more'), body })
  await ask('POST /v1/runs/{id}/steps/{step}/refuse', at('ask'))
  await waitFor(
    async () => {
      const path = { parts: { id: run.id }, query: '?wait=5s' }
      return (await ask<{ state: string }>('GET /v1/runs/{id}', path)).body.state === 'failed'
    },
    { what: 'what was refused to fail' },
  )
  await ask('GET /v1/runs/{id}/steps', { parts: { id: run.id } })
  const again = { parts: { id: run.id }, body: { only: 'failed', skip: ['ask'] } }
  const { body: retry } = await ask<{ id: string }>('POST /v1/runs/{id}/retry', again)
  await ask('GET /v1/runs/{id}', { parts: { id: retry.id } })
  await ask('GET /v1/jobs/{name}/steps', job)
  await askHook(ask)
}

async function askHook(ask: Ask) {
  const secret = mintSecret()
  const triggers = [{ webhook: 'orders' }]
  await ask('PUT /v1/secrets/{name}', { parts: { name: 'HOOK_ORDERS' }, body: { value: secret } })
  await ask('PUT /v1/jobs/{name}', { parts: { name: 'hooked' }, body: { task: 'x', triggers } })
  const parts = { name: 'orders' }
  const call = { id: 'msg_1', body: '{"a":1}', at: Math.floor(Date.now() / 1_000) }
  const headers = signedHeaders(call, [secret])
  const { status } = await ask('POST /v1/hooks/{name}', { parts, body: { a: 1 }, headers })
  assert.equal(status, 200)
  const bad = await ask('POST /v1/hooks/{name}', { parts, body: { a: 2 }, headers })
  assert.equal(bad.status, 401)
}

const HELLO = {
  name: 'w',
  queues: ['mail'],
  labels: { gpu: 'a100' },
  executors: ['handler:greet'],
  slots: 2,
  registration: 1,
  held: [],
  forsaken: [],
}

/** The compat routes, with a worker of their own. */
async function askCompat(ask: Awaited<ReturnType<typeof openReference>>['ask']) {
  const body = { worker_id: 'plain' }
  await ask('POST /workers/register', { body })
  await ask('POST /workers/heartbeat', { body })
  await ask('GET /workers/{id}/next', { parts: { id: 'plain' } })
  const job = await ask<{ id: number }>('POST /jobs', {
    body: { name: 'Later', command: 'echo hi', schedule: '0 0 1 1 *' },
  })
  const parts = { id: String(job.body.id) }
  await ask('GET /jobs/{id}', { parts })
  const report = { parts, body: { ...body, status: 'running', logs: 'x' } }
  assert.equal((await ask('POST /jobs/{id}/log', report)).status, 409)
  const headers = { 'x-user-id': 'ada' }
  const { body: submitted } = await ask<{ job_id: string }>('POST /submit', {
    body: { project_id: 'default', payload: 'x', next_fire_at: '2999-01-01T00:00:00Z' },
    headers,
  })
  await ask('GET /job', { query: `?id=${submitted.job_id}`, headers })
  await ask('GET /jobs', { headers })
  await ask('GET /jobs')
}

test('every operation answers as the reference says', async (t) => {
  const { api, ask, unseen } = await openReference(t)
  await api.startWorker()

  for (const path of ['/livez', '/readyz', '/metrics', '/openapi.json', '/schema/v1/job.json'])
    await ask(`GET ${path}`)

  const job = { parts: { name: 'hello' } }
  const definition = {
    run: 'echo hi; echo ::error::ho >&2; exit 3',
    retry: { max: 1, delay: '1ms' },
    timeout: '1m',
    tags: { team: 'a' },
    title: 'Hello',
    runs_on: { labels: {} },
    env: { A: '1' },
  }
  await ask('PUT /v1/jobs/{name}', { ...job, body: definition })
  const { headers } = await ask('GET /v1/jobs/{name}', job)
  const match = { 'if-match': headers.get('etag') as string }
  await ask('PUT /v1/jobs/{name}', { ...job, body: definition, headers: match })
  await ask('POST /v1/jobs/{name}/pause', { ...job, body: { reason: 'lunch' } })
  await ask('GET /v1/jobs')
  await ask('POST /v1/jobs/{name}/resume', job)
  await ask('GET /v1/jobs/{name}/versions', job)

  await askSchedules(ask)
  await askWorkflows(ask)

  const key = { 'idempotency-key': 'once' }
  const run = await ask<{ id: string }>('POST /v1/jobs/{name}/runs', { ...job, body: {} })
  const own = {
    script: 'cat',
    stdin: 'x',
    kill_grace: '1s',
    umask: '027',
    cwd: '/tmp',
    limits: { output: '1MiB' },
  }
  for (const status of [201, 200]) {
    const again = await ask('POST /v1/runs', { body: own, headers: key })
    assert.equal(again.status, status)
  }
  await ask('POST /v1/runs', { body: { argv: ['true'], run_at: '2999-01-01T00:00:00Z' } })
  await ask('POST /v1/runs:batch', { body: { runs: [own, { job: 'greet', queue: 'mail' }] } })
  await ask('POST /v1/runs:batch', { body: { runs: [own, own] }, headers: key })

  const one = { parts: { id: run.body.id } }
  await waitFor(
    async () => {
      const { body } = await ask<{ state: string }>('GET /v1/runs/{id}', {
        ...one,
        query: '?wait=5s',
      })
      return body.state === 'failed'
    },
    { what: 'the run to fail' },
  )
  await ask('GET /v1/runs')
  await ask('GET /v1/runs/{id}/attempts', one)
  await ask('GET /v1/runs/{id}/why', one)
  const log = await ask<{ lines: unknown[] }>('GET /v1/runs/{id}/logs', one)
  assert.ok(log.body.lines.length >= 2)
  await ask('GET /v1/runs/{id}/logs/search', { ...one, query: '?q=h[io]&mode=regex' })
  await ask('GET /v1/runs/{id}/logs/raw', one)
  await ask('GET /v1/runs/{id}/logs/follow', one)
  await ask('GET /v1/events')
  await ask('POST /v1/runs/{id}/cancel', one)
  for (const status of [201, 200]) {
    const again = await ask('POST /v1/runs/{id}/retry', {
      ...one,
      headers: { 'idempotency-key': 'r' },
    })
    assert.equal(again.status, status)
  }

  const { body: waiting } = await ask<{ id: string }>('POST /v1/runs', {
    body: { job: 'greet', queue: 'mail', input: { who: 'you' }, tags: { a: 'b' } },
  })
  await ask('GET /v1/runs/{id}/why', { parts: { id: waiting.id } })
  await ask('GET /v1/queues')
  await ask('PATCH /v1/queues/{name}', { parts: { name: 'mail' }, body: { max_timeout: '1h' } })
  await ask('PATCH /v1/queues', { body: { paused: false } })

  const { body: welcome } = await ask<{ session: string }>('POST /v1/workers', { body: HELLO })
  const session = { parts: { session: welcome.session } }
  const { body: given } = await ask<{ runs: { run: string; fence: number }[] }>(
    'POST /v1/workers/{session}/exchange',
    {
      ...session,
      body: { registration: 1, number: 1, answered: 0, done: [], free: 2, wait_ms: 5_000 },
    },
  )
  const held = given.runs.map(({ run: id, fence }) => ({ run: id, fence }))
  assert.ok(held.length > 0)
  await ask('GET /v1/workers')
  await ask('POST /v1/runs/{id}/cancel', { parts: { id: held[0]?.run as string } })
  await ask('POST /v1/workers/{session}/heartbeat', {
    ...session,
    body: { registration: 1, answered: 1, held },
  })
  const foreign = { run: 'run_00000000001', fence: 1, chunk: 0, entries: [[0, 1, 'x']] }
  await ask('POST /v1/workers/{session}/logs', {
    ...session,
    body: { registration: 1, chunks: [foreign, { ...foreign, ...held[0] }] },
  })
  const done = held.map((attempt) => ({ ...attempt, outcome: 'succeeded', result: '[1]' }))
  await ask('POST /v1/workers/{session}/exchange', {
    ...session,
    body: { registration: 1, number: 2, answered: 1, done, free: 0, wait_ms: 0 },
  })
  await ask('GET /v1/runs/{id}', { parts: { id: held[0]?.run as string } })
  await ask('POST /v1/workers/{session}/leave', { ...session, body: { registration: 1 } })

  const { body: token } = await ask<{ id: string }>('POST /v1/tokens', {
    body: { name: 'ci', role: 'viewer', expires_at: '2999-01-01T00:00:00Z' },
  })
  await ask('GET /v1/tokens', { query: '?everywhere=true' })
  await ask('DELETE /v1/tokens/{id}', { parts: { id: token.id } })
  const webhook = { parts: { name: 'pager' } }
  const webhookBody = { url: 'http://127.0.0.1:9/', events: ['run.failed'], jobs: ['etl-*'] }
  for (const status of [201, 200]) {
    assert.equal(
      (await ask('PUT /v1/webhooks/{name}', { ...webhook, body: webhookBody })).status,
      status,
    )
  }
  await ask('POST /v1/webhooks', { body: { ...webhookBody, name: 'another' } })
  await ask('GET /v1/webhooks')
  await ask('GET /v1/webhooks/{name}', webhook)
  await ask('POST /v1/webhooks/{name}/rotate', { ...webhook, body: { keep: '1h' } })
  const { body: sent } = await ask<{ id: string }>('POST /v1/webhooks/{name}/test', webhook)
  const delivery = { parts: { name: 'pager', id: sent.id } }
  await ask('GET /v1/webhooks/{name}/deliveries', webhook)
  await ask('GET /v1/webhooks/{name}/deliveries/{id}', delivery)
  await ask('POST /v1/webhooks/{name}/deliveries/{id}/redeliver', delivery)
  await ask('DELETE /v1/webhooks/{name}', webhook)
  const secret = { parts: { name: 'PASSWORD' } }
  for (const status of [201, 200]) {
    const answer = await ask('PUT /v1/secrets/{name}', { ...secret, body: { value: 'hunter22' } })
    assert.equal(answer.status, status)
  }
  await ask('POST /v1/runs', { body: { run: 'true', secrets: ['PASSWORD'], queue: 'mail' } })
  await ask('GET /v1/secrets')
  await ask('GET /v1/storage')
  await ask('GET /v1/secret-keys')
  await ask('POST /v1/secret-keys/rotate')
  await ask('DELETE /v1/secrets/{name}', secret)
  await askCompat(ask)
  await ask('GET /v1/audit', { query: '?limit=3' })
  await ask('PUT /v1/jobs/{name}', { parts: { name: 'idle' }, body: { run: 'true' } })
  await ask('DELETE /v1/jobs/{name}', { parts: { name: 'idle' } })

  assert.deepEqual([...unseen], [], 'never asked')
})
