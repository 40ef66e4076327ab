import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../src/client/index.ts'
import { openApi, ROOT_TOKEN } from './open-api.ts'

interface Submitted {
  readonly id: string
  readonly created: boolean
  readonly code?: string
}

test('a submission repeated under its key finds its run, and the answer says so', async (t) => {
  const api = await openApi(t)
  const headers = { 'idempotency-key': 'invoice-1' }
  const send = (body: unknown) => api.call<Submitted>('POST', '/v1/runs', { body, headers })
  const first = await send({ job: 'a', input: { n: 1 } })
  const repeats = await Promise.all(
    Array.from({ length: 100 }, () => send({ job: 'a', input: { n: 1 } })),
  )
  assert.equal(first.status, 201)
  assert.equal(first.headers.get('idempotency-replayed'), null)
  for (const again of repeats) {
    assert.deepEqual([again.status, again.body], [200, { id: first.body.id, created: false }])
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
  }
  const other = await send({ job: 'a', input: { n: 2 } })
  assert.deepEqual([other.status, other.body.code], [422, 'idempotency_mismatch'])
})

test('a retry repeated under its key starts one run', async (t) => {
  const api = await openApi(t)
  const { body: run } = await api.call<Submitted>('POST', '/v1/runs', { body: { job: 'a' } })
  await api.call('POST', `/v1/runs/${run.id}/cancel`)
  const headers = { 'idempotency-key': 'k' }
  const retry = () => api.call<Submitted>('POST', `/v1/runs/${run.id}/retry`, { headers })
  const [first, second] = [await retry(), await retry()]
  assert.equal(first.status, 201)
  assert.deepEqual([second.status, second.body], [200, { id: first.body.id, created: false }])
  const client = connect({ url: api.url, token: ROOT_TOKEN })
  t.after(() => client.close())
  assert.equal((await client.retry(run.id, 'k')).id, first.body.id)
  assert.notEqual((await client.retry(run.id)).id, first.body.id)
  const mixed = await api.call<Submitted>('POST', '/v1/runs', { body: { job: 'a' }, headers })
  assert.deepEqual([mixed.status, mixed.body.code], [422, 'idempotency_mismatch'])
})
