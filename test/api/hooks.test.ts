import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { WireHookRun } from '../../src/core/webhook/hook.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { mintSecret, signedHeaders } from '../../src/server/webhooks/signing.ts'
import { openApi } from './open-api.ts'

const SECRET = mintSecret()
const ORDER = { order: { type: 'integer' } }

async function open(t: TestContext) {
  const api = await openApi(t)
  await api.call('PUT', '/v1/secrets/HOOK_ORDERS_READY', { body: { value: SECRET } })
  const triggers = [{ webhook: 'orders-ready' }, { webhook: 'other' }]
  for (const [name, more] of Object.entries({
    bill: { input: ORDER },
    ship: { steps: [{ task: 'pack' }] },
    rest: { triggers: [] },
  })) {
    const put = await api.call('PUT', `/v1/jobs/${name}`, {
      body: { ...('steps' in more ? {} : { task: name }), triggers, ...more },
    })
    assert.equal(put.status, 201, JSON.stringify(put.body))
  }
  const send = (
    body: unknown,
    {
      id = 'msg_1',
      at = Math.floor(Date.now() / 1_000),
      secret = SECRET,
      hook = 'orders-ready',
    } = {},
  ) =>
    api.call<{ runs: WireHookRun[]; code?: string; field?: string }>('POST', `/v1/hooks/${hook}`, {
      body,
      token: null,
      headers: signedHeaders({ id, body: JSON.stringify(body), at }, [secret]),
    })
  return { api, send }
}

test('a signed call runs every job with that trigger, once, with its body as input', async (t) => {
  const { api, send } = await open(t)
  const first = await send({ order: 7 })
  assert.equal(first.status, 200, JSON.stringify(first.body))
  assert.deepEqual(
    first.body.runs.map(({ job, created }) => [job, created]),
    [
      ['bill', true],
      ['ship', true],
    ],
  )
  const again = await send({ order: 7 })
  assert.deepEqual(
    again.body.runs,
    first.body.runs.map((run) => ({ ...run, created: false })),
  )
  const { body: run } = await api.call<WireRun>('GET', `/v1/runs/${first.body.runs[0]?.id}`)
  assert.deepEqual(run.input, { order: 7 })
  const other = await send({ order: 8 }, { id: 'msg_2' })
  assert.equal(other.body.runs[0]?.created, true)
  const mixed = await send({ order: 9 }, { id: 'msg_2' })
  assert.deepEqual([mixed.status, mixed.body.code], [422, 'idempotency_mismatch'])
})

test('a call without a valid, recent signature reveals nothing', async (t) => {
  const { api, send } = await open(t)
  const now = Math.floor(Date.now() / 1_000)
  const answers = await Promise.all([
    send({ order: 1 }, { secret: mintSecret() }),
    send({ order: 1 }, { at: now - 400 }),
    send({ order: 1 }, { at: now + 400 }),
    send({ order: 1 }, { hook: 'nobody' }),
    api.call('POST', '/v1/hooks/orders-ready', { body: {}, token: null }),
    api.call('POST', '/v1/hooks/orders-ready', { body: {} }),
  ])
  const shown = answers.map(({ status, body }) => [status, (body as { code?: string }).code])
  assert.deepEqual(
    shown,
    answers.map(() => [401, 'bad_signature']),
  )
  assert.ok(answers[0]?.headers.has('www-authenticate'))
  const { body } = await api.call<{ data: WireRun[] }>('GET', '/v1/runs')
  assert.deepEqual(body.data, [])
})

test('a body that a job does not accept is refused, and paused jobs are left out', async (t) => {
  const { api, send } = await open(t)
  const wrong = await send({ order: 'x' })
  assert.deepEqual([wrong.status, wrong.body.field], [422, 'input.order'])
  await api.call('POST', '/v1/jobs/bill/pause', { body: {} })
  const rest = await send({ order: 'x' })
  assert.deepEqual(
    rest.body.runs.map(({ job }) => job),
    ['ship'],
  )
  await api.call('PUT', '/v1/secrets/HOOK_IDLE', { body: { value: SECRET } })
  const idle = await send({}, { hook: 'idle' })
  assert.deepEqual([idle.status, idle.body.code], [404, 'hook_not_found'])
})

test('if one job refuses the body nothing runs, and the same call runs all jobs once it is accepted', async (t) => {
  const { api, send } = await open(t)
  const body = { task: 'x', triggers: [{ webhook: 'orders-ready' }], input: ORDER }
  // In any order, some of them come before it and some after.
  for (const name of ['a-first', 'z-last']) {
    await api.call('PUT', `/v1/jobs/${name}`, { body: { ...body, input: {} } })
  }
  const wrong = await send({ order: 'x' })
  assert.deepEqual([wrong.status, wrong.body.field], [422, 'input.order'])
  assert.match((wrong.body as { detail?: string }).detail ?? '', /\bbill\b/)
  const { body: none } = await api.call<{ data: WireRun[] }>('GET', '/v1/runs')
  assert.deepEqual(none.data, [])
  await api.call('PUT', '/v1/jobs/bill', {
    body: { ...body, input: { order: { type: 'string' } } },
  })
  const again = await send({ order: 'x' })
  assert.deepEqual(
    again.body.runs.map(({ created }) => created),
    [true, true, true, true],
  )
})

test('a caller that guesses signatures is slowed down', async (t) => {
  const { send } = await open(t)
  const statuses = new Set<number>()
  for (let guess = 0; guess < 200 && !statuses.has(429); guess += 1) {
    statuses.add((await send({}, { secret: mintSecret() })).status)
  }
  assert.deepEqual([...statuses], [401, 429])
})

test('a hook belongs to one project, which is in its address', async (t) => {
  const { api } = await open(t)
  const headers = signedHeaders({ id: 'm', body: '{}', at: Math.floor(Date.now() / 1_000) }, [
    SECRET,
  ])
  const path = '/v1/hooks/orders-ready?project=other'
  const elsewhere = await api.call('POST', path, { body: {}, token: null, headers })
  assert.equal(elsewhere.status, 401)
})
