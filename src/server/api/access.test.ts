import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeScheduler, createTestApi, TOKEN } from './testing/fake-scheduler.ts'

test('a route that does not say who may use it cannot be registered', async () => {
  const api = createTestApi()
  assert.throws(() => api.get('/v1/debug', () => 'open'), /does not declare its permission/)
  const config = { permission: 'everyone' as 'public' }
  assert.throws(
    () => api.get('/v1/debug', { config }, () => 'open'),
    /does not declare its permission/,
  )
  await api.close()
})

test('without a token only the health of the server can be asked', async () => {
  const api = createTestApi()
  const open: string[] = []
  for (const url of ['/livez', '/readyz', '/', '/v1', '/v1/runs', '/v1/runs:batch', '/metrics']) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'] as const) {
      const { statusCode } = await api.inject({ method, url })
      if (statusCode !== 401) open.push(`${method} ${url}`)
    }
  }
  assert.deepEqual(open, ['GET /livez', 'GET /readyz'])
  await api.close()
})

test('every name of the loopback is ours, with any port; further names can be added', async () => {
  const api = createTestApi(createFakeScheduler(), { allowHosts: ['Punctual.internal'] })
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

test('readiness gives its reason, also when the check itself breaks', async () => {
  const health = {
    live: () => false,
    ready: async () => ({ ok: false, reason: 'the database is away' }),
  }
  const api = createTestApi(createFakeScheduler(), { health })
  const ready = await api.inject('/readyz')
  assert.equal(ready.statusCode, 503)
  assert.deepEqual(ready.json(), { ready: false, reason: 'the database is away' })
  assert.equal((await api.inject('/livez')).statusCode, 503)
  await api.close()

  const broken = createTestApi(createFakeScheduler(), {
    health: { live: () => true, ready: () => Promise.reject(new Error(TOKEN)) },
  })
  const reply = await broken.inject('/readyz')
  assert.equal(reply.statusCode, 503)
  assert.doesNotMatch(reply.body, new RegExp(TOKEN))
  await broken.close()
})

test('a link from elsewhere may be followed; a page from elsewhere may not call', async () => {
  const api = createTestApi()
  const authorization = `Bearer ${TOKEN}`
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
