import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireAudit, WirePage, WireSecret } from '../../src/core/wire/views.ts'
import { openApi } from './open-api.ts'

const VALUE = 'hunter22-and-more'

test('a secret is set, changed, listed and deleted, and no answer has its value', async (t) => {
  const { call } = await openApi(t)
  const answers: unknown[] = []
  const ask = async <T>(method: string, path: string, body?: object) => {
    const answer = await call<T>(method, path, body ? { body } : {})
    answers.push(answer.body)
    return answer
  }
  const first = await ask<WireSecret>('PUT', '/v1/secrets/PASSWORD', { value: VALUE })
  assert.equal(first.status, 201)
  const { updated_at, ...made } = first.body
  assert.ok(Date.parse(updated_at) > 0)
  assert.deepEqual(made, { name: 'PASSWORD', version: 1, updated_by: 'root', key: 'k1' })
  const second = await ask<WireSecret>('PUT', '/v1/secrets/PASSWORD', { value: `${VALUE}!` })
  assert.deepEqual([second.status, second.body.version], [200, 2])
  await ask('PUT', '/v1/secrets/_OTHER', { value: VALUE })
  const pages: string[][] = []
  for (let query = '?limit=1'; ;) {
    const { body } = await ask<WirePage<WireSecret>>('GET', `/v1/secrets${query}`)
    pages.push(body.data.map(({ name }) => name))
    if (body.next_cursor === null) break
    query = `?limit=1&cursor=${body.next_cursor}`
  }
  assert.deepEqual(pages, [['PASSWORD'], ['_OTHER']])
  const keys = await ask('GET', '/v1/secret-keys')
  assert.deepEqual(keys.body, { keys: [{ id: 'k1', secrets: 2 }] })
  assert.equal((await ask('DELETE', '/v1/secrets/PASSWORD')).status, 204)
  const missing = await ask<{ code: string }>('DELETE', '/v1/secrets/PASSWORD')
  assert.deepEqual([missing.status, missing.body.code], [404, 'secret_not_found'])
  const audit = await ask<WirePage<WireAudit>>('GET', '/v1/audit')
  assert.deepEqual(
    audit.body.data.map(({ action, target, detail }) => [action, target, detail]),
    [
      ['secret.delete', 'PASSWORD', null],
      ['secret.put', '_OTHER', null],
      ['secret.put', 'PASSWORD', null],
      ['secret.put', 'PASSWORD', null],
    ],
  )
  assert.ok(!JSON.stringify(answers).includes('hunter22'))
})

test('refusals do not repeat the value', async (t) => {
  const { call } = await openApi(t)
  const table: [why: string, name: string, body: object, status: number, code: string][] = [
    ['a name of no variable', 'PASS-WORD', { value: VALUE }, 422, 'invalid_field'],
    ['a name of ours', 'PUNCTUAL_JOB', { value: VALUE }, 422, 'invalid_field'],
    ['a name that is too long', 'N'.repeat(129), { value: VALUE }, 422, 'invalid_field'],
    ['no value', 'N', {}, 422, 'missing_field'],
    ['a value that is no text', 'N', { value: [VALUE] }, 422, 'invalid_field'],
    ['a value that is too short', 'N', { value: 'hun' }, 422, 'invalid_field'],
    ['a value that is too long', 'N', { value: VALUE.repeat(4_000) }, 422, 'invalid_field'],
    ['another field', 'N', { value: VALUE, note: VALUE }, 422, 'unknown_field'],
  ]
  for (const [why, name, body, status, code] of table) {
    const answer = await call<{ code: string }>('PUT', `/v1/secrets/${name}`, { body })
    assert.deepEqual([answer.status, answer.body.code], [status, code], why)
    assert.ok(!JSON.stringify(answer.body).includes('hunter22'), why)
  }
  assert.equal((await call('GET', '/v1/secrets/N')).status, 405)
})

test('only callers that may choose commands may name secrets for them', async (t) => {
  const api = await openApi(t)
  await api.call('PUT', '/v1/secrets/PASSWORD', { body: { value: VALUE } })
  const body = { run: 'true', secrets: ['PASSWORD'] }
  await api.call('PUT', '/v1/jobs/backup', { body })
  const operator = await api.token('operator')
  const ask = async (method: string, path: string, asked?: object) =>
    (await api.call(method, path, { token: operator, ...(asked && { body: asked }) })).status
  assert.equal(await ask('POST', '/v1/jobs/backup/runs', {}), 201)
  assert.equal(await ask('POST', '/v1/runs', { job: 'backup' }), 201)
  assert.equal(await ask('POST', '/v1/runs', { job: 'backup', secrets: ['PASSWORD'] }), 403)
  const batch = { runs: [{ job: 'backup', secrets: ['PASSWORD'] }] }
  assert.equal(await ask('POST', '/v1/runs:batch', batch), 403)
  assert.equal(await ask('POST', '/v1/jobs/backup/runs', { secrets: ['PASSWORD'] }), 422)
  assert.equal(await ask('GET', '/v1/secrets'), 200)
  assert.equal(await ask('PUT', '/v1/secrets/PASSWORD', { value: VALUE }), 403)
  assert.equal(await ask('DELETE', '/v1/secrets/PASSWORD'), 403)
})

test('a project cannot see the secrets of another', async (t) => {
  const api = await openApi(t)
  await api.call('PUT', '/v1/secrets/PASSWORD', { body: { value: VALUE } })
  const token = await api.token('admin', 'other')
  const list = await api.call<WirePage<WireSecret>>('GET', '/v1/secrets', { token })
  assert.deepEqual(list.body.data, [])
  const body = { run: 'echo "$PASSWORD"', secrets: ['PASSWORD'] }
  const run = await api.call<{ code: string }>('POST', '/v1/runs', { token, body })
  assert.deepEqual([run.status, run.body.code], [404, 'secret_not_found'])
  assert.equal((await api.call('DELETE', '/v1/secrets/PASSWORD', { token })).status, 404)
  assert.equal((await api.call('GET', '/v1/secret-keys', { token })).status, 403)
})
