import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { WireAudit, WireNewToken, WirePage } from '../../src/core/wire/views.ts'
import { waitFor } from '../support/wait-for.ts'
import { openApi, ROOT_TOKEN } from './open-api.ts'

test('a token works, shows its last use, and stops working when it is revoked', async (t) => {
  const { call } = await openApi(t)
  const made = await call<WireNewToken>('POST', '/v1/tokens', {
    body: { name: 'ci', role: 'operator' },
  })
  assert.equal(made.status, 201)
  const { token, id, ending } = made.body
  assert.match(token, /^punctual_[\w-]{43}$/)
  assert.equal(token.endsWith(ending), true)
  assert.equal((await call('GET', '/v1/runs', { token })).status, 200)
  const list = await call<{ data: object[] }>('GET', '/v1/tokens')
  assert.equal(JSON.stringify(list.body).includes(token), false)
  assert.equal((await call('DELETE', `/v1/tokens/${id}`)).status, 204)
  assert.equal((await call('GET', '/v1/runs', { token })).status, 401)
  assert.equal((await call('DELETE', `/v1/tokens/${id}`)).body['code'], 'token_not_found')
})

test('an expired token identifies no caller', async (t) => {
  const { call } = await openApi(t)
  const { body } = await call<WireNewToken>('POST', '/v1/tokens', {
    body: { name: 'old', role: 'viewer', expires_at: '2020-01-01T00:00:00Z' },
  })
  assert.equal((await call('GET', '/v1/runs', { token: body.token })).status, 401)
})

test('an operator runs defined jobs and sends no commands of its own', async (t) => {
  const api = await openApi(t)
  await api.call('PUT', '/v1/jobs/hello', { body: { run: 'true' } })
  const token = await api.token('operator')
  const run = (body: object) => api.call('POST', '/v1/runs', { token, body })
  assert.equal((await run({ job: 'hello' })).status, 201)
  assert.deepEqual((await run({ run: 'id' })).body['code'], 'forbidden')
  assert.deepEqual((await run({ job: 'hello', argv: ['id'] })).status, 403)
  const batch = { runs: [{ job: 'hello' }, { script: 'id' }] }
  assert.equal((await api.call('POST', '/v1/runs:batch', { token, body: batch })).status, 403)
  assert.equal(
    (await api.call('POST', '/v1/jobs/hello/runs', { token, body: { env: { A: '1' } } })).status,
    422,
  )
})

test('every change leaves an audit line that names the caller', async (t) => {
  const api = await openApi(t)
  const token = await api.token('admin')
  await api.call('PUT', '/v1/jobs/hello', { token, body: { run: 'true' } })
  await api.call('POST', '/v1/jobs/hello/pause', { token, body: { reason: 'why not' } })
  await api.call('PATCH', '/v1/queues/mail', { token, body: { max_timeout: '1h' } })
  const run = await api.call<{ id: string }>('POST', '/v1/runs', { token, body: { job: 'hello' } })
  await api.call('POST', `/v1/runs/${run.body.id}/cancel`, { token })
  const { body } = await api.call<WirePage<WireAudit>>('GET', '/v1/audit', { token })
  assert.deepEqual(
    body.data.map(({ actor, action, target }) => [actor, action, target]),
    [
      ['t1', 'run.cancel', run.body.id],
      ['t1', 'queue.put', 'mail'],
      ['t1', 'job.pause', 'hello'],
      ['t1', 'job.put', 'hello'],
      ['root', 'token.create', 't1'],
    ],
  )
  assert.equal(body.data[0]?.address, '127.0.0.1')
  assert.match(body.data[0]?.request_id ?? '', /^req_/)
})

test('pages of other sites and foreign host names get nothing', async (t) => {
  const { call } = await openApi(t)
  const ask = (headers: Record<string, string>) => call('GET', '/v1/runs', { headers })
  assert.equal((await ask({ origin: 'https://evil.example' })).body['code'], 'origin_not_allowed')
  assert.equal((await ask({ origin: 'null' })).status, 403)
  assert.equal((await ask({ 'sec-fetch-site': 'cross-site' })).status, 403)
  assert.equal((await ask({ 'sec-fetch-site': 'same-origin' })).status, 200)
})

test('a caller that sends wrong tokens is soon blocked', async (t) => {
  const { call } = await openApi(t)
  const statuses = new Set<number>()
  for (let i = 0; i < 80; i += 1) {
    statuses.add((await call('GET', '/v1/runs', { token: `guess${i}` })).status)
  }
  assert.deepEqual(
    [...statuses].toSorted((a, b) => a - b),
    [401, 429],
  )
  assert.equal((await call('GET', '/v1/runs')).status, 200)
})

test('the data directory holds no token', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-tokens-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const api = await openApi(t, { store: `sqlite:${join(dir, 'p.db')}` })
  const token = await api.token('admin')
  await api.call('PUT', '/v1/jobs/hello', { token, body: { run: 'true' } })
  const stored = await waitFor(
    () => Buffer.concat(readdirSync(dir).map((name) => readFileSync(join(dir, name)))),
    { what: 'the files' },
  )
  assert.equal(stored.includes('hello'), true)
  for (const secret of [token, ROOT_TOKEN]) assert.equal(stored.includes(secret), false)
})

test('a queue sets timeouts for runs that ask for none or for too much', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  await api.call('PATCH', '/v1/queues/default', {
    body: { default_timeout: '300ms', max_timeout: '400ms' },
  })
  for (const more of [{}, { timeout: '1h' }]) {
    const body = { run: 'sleep 1000', kill_grace: '10ms', ...more }
    const { body: made } = await api.call<{ id: string }>('POST', '/v1/runs', { body })
    const run = await api.call('GET', `/v1/runs/${made.id}?wait=60s`)
    assert.equal(run.body['cause'], 'timeout')
  }
})

test('a token with the maximum number of worker sessions gets a retry time', async (t) => {
  const { call, token } = await openApi(t, { config: { maxSessionsPerToken: 1 } })
  const mine = await token('worker')
  const body = {
    name: 'w',
    queues: ['default'],
    labels: {},
    executors: ['shell'],
    slots: 1,
    registration: 1,
    held: [],
    forsaken: [],
    protocol: [2],
  }
  const register = (as: string) => call('POST', '/v1/workers', { body, token: as })
  assert.equal((await register(mine)).status, 201)
  const refused = await register(mine)
  assert.deepEqual([refused.status, refused.body['code']], [429, 'too_many_sessions'])
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  assert.equal((await register(await token('worker'))).status, 201)
})
