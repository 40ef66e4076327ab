import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeSchedulerClient, createTestApi, TEST_TOKEN } from './testing/fake-scheduler.ts'

test('a route without a declared permission cannot be registered', async () => {
  const api = createTestApi()
  assert.throws(() => api.get('/v1/debug', () => 'open'), /does not declare its permission/)
  const config = { permission: 'everyone' as 'public' }
  assert.throws(
    () => api.get('/v1/debug', { config }, () => 'open'),
    /does not declare its permission/,
  )
  await api.close()
})

test('without a token only the health and the web page of the server can be requested', async () => {
  const api = createTestApi()
  const open: string[] = []
  for (const url of ['/livez', '/readyz', '/', '/v1', '/v1/runs', '/v1/runs:batch', '/metrics']) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'] as const) {
      const { statusCode } = await api.inject({ method, url })
      if (statusCode !== 401) open.push(`${method} ${url}`)
    }
  }
  assert.deepEqual(open, ['GET /livez', 'GET /readyz', 'GET /'])
  await api.close()
})

test('every loopback name is accepted, with any port; further names can be added', async () => {
  const api = createTestApi(createFakeSchedulerClient(), { allowHosts: ['Punctual.internal'] })
  for (const host of [
    '127.0.0.1',
    'localhost:7420',
    '[::1]:80',
    'LOCALHOST',
    'punctual.internal:443',
  ]) {
    const reply = await api.inject({ method: 'GET', url: '/livez', headers: { host } })
    assert.equal(reply.statusCode, 200, host)
  }
  await api.close()
})

test('readiness gives its reason, also when the check itself fails', async () => {
  const health = {
    live: () => false,
    ready: async () => ({ ok: false, reason: 'the database is away' }),
  }
  const api = createTestApi(createFakeSchedulerClient(), { health })
  const ready = await api.inject('/readyz')
  assert.equal(ready.statusCode, 503)
  assert.deepEqual(ready.json(), { ready: false, reason: 'the database is away' })
  assert.equal((await api.inject('/livez')).statusCode, 503)
  await api.close()

  const broken = createTestApi(createFakeSchedulerClient(), {
    health: { live: () => true, ready: () => Promise.reject(new Error(TEST_TOKEN)) },
  })
  const reply = await broken.inject('/readyz')
  assert.equal(reply.statusCode, 503)
  assert.doesNotMatch(reply.body, new RegExp(TEST_TOKEN))
  await broken.close()
})

test('a link from another site may be followed, but a page of another site may not call', async () => {
  const api = createTestApi()
  const authorization = `Bearer ${TEST_TOKEN}`
  const ask = async (method: 'GET' | 'POST', mode: string) => {
    const headers = { authorization, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode }
    return (await api.inject({ method, url: '/v1/runs', headers })).statusCode
  }
  assert.deepEqual(
    [await ask('GET', 'navigate'), await ask('GET', 'cors'), await ask('POST', 'navigate')],
    [200, 403, 403],
  )
  await api.close()
})
