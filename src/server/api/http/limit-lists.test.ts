import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { waitFor } from '../../../../test/support/wait-for.ts'
import type { RunPage } from '../../../core/wire/protocol.ts'
import { ROOT } from '../../identity/caller.ts'
import { createMetrics, type MetricSources } from '../../metrics/metrics.ts'
import { getRequest, postRequest } from '../testing/bad-input.ts'
import { createFakeSchedulerClient, createTestApi, SESSION } from '../testing/fake-scheduler.ts'

const LIST = '/v1/runs?q=tag.b:nope&limit=10'
const HEARTBEAT = JSON.stringify({ registration: 1, answered: 0, held: [] })

const NOTHING_TO_MEASURE: MetricSources = {
  queueDepths: async () => [],
  live: async () => ({}),
  storeFailure: () => null,
  storeFreeBytes: async () => null,
  slots: () => ({ used: 0, free: 0 }),
  workers: () => ({ active: 0, quarantined: 0 }),
  clock: () => ({ offMs: 0, isHeld: false, mayDelete: true }),
  version: 'test',
}

/** A server whose lists are answered only when the test says so. */
function stage(t: TestContext) {
  const held: ((page: RunPage) => void)[] = []
  const scheduler = createFakeSchedulerClient({
    listRuns: () => new Promise((resolve) => held.push(resolve)),
  })
  const revoked = new Set<string>()
  const metrics = createMetrics(NOTHING_TO_MEASURE)
  const api = createTestApi(scheduler, {
    identify: (token) =>
      revoked.has(token) ? null : { ...ROOT, tokenId: token.endsWith('2') ? 2 : 1 },
    lists: { slots: 4, slotsPerCaller: 3, waitingPerCaller: 2, waiting: 3, leastMs: 0 },
    metrics,
  })
  const answerAll = () => {
    for (const resolve of held.splice(0)) resolve({ runs: [], next: null })
  }
  t.after(async () => {
    answerAll()
    await api.close()
  })
  const list = (token = 'one-1') =>
    api.inject(getRequest(LIST, { authorization: `Bearer ${token}` }))
  return { api, held, list, answerAll, revoked }
}

test('a heartbeat and a submission are answered while every slot for lists is taken', async (t) => {
  const { api, held, list, answerAll } = stage(t)
  const lists = [...Array.from({ length: 5 }, () => list()), list('two-2'), list('two-2')]
  await waitFor(() => held.length === 4, { what: 'all slots' })
  const beaten = await api.inject(postRequest(`/v1/workers/${SESSION}/heartbeat`, HEARTBEAT))
  assert.equal(beaten.statusCode, 200, beaten.body)
  const submitted = await api.inject(postRequest('/v1/runs', '{"job":"a"}'))
  assert.equal(submitted.statusCode, 201, submitted.body)
  assert.equal((await api.inject(getRequest('/livez'))).statusCode, 200)
  let isOver = false
  void Promise.all(lists).then(() => (isOver = true))
  const next = () => {
    answerAll()
    return isOver
  }
  await waitFor(next, { what: 'every list to be answered' })
  for (const one of lists) assert.equal((await one).statusCode, 200)
})

test('a token with too many waiting lists gets the time to wait before the next try; another token gets its list', async (t) => {
  const { held, list, answerAll } = stage(t)
  const lists = Array.from({ length: 5 }, () => list())
  await waitFor(() => held.length === 3, { what: 'the slots of one token' })
  const refused = await list()
  const { code, hint } = refused.json<{ code: string; hint: string }>()
  assert.deepEqual([refused.statusCode, code], [429, 'rate_limited'])
  assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/)
  assert.match(hint, /Retry-After/)
  const other = list('two-2')
  await waitFor(() => held.length === 4, { what: 'the list of the other token' })
  answerAll()
  assert.equal((await other).statusCode, 200)
  await waitFor(() => held.length === 2, { what: 'those that waited' })
  answerAll()
  for (const one of lists) assert.equal((await one).statusCode, 200)
})

test('a list whose token is revoked while it waits is refused, and its slot goes to the next', async (t) => {
  const { api, held, list, answerAll, revoked } = stage(t)
  const before = [list(), list(), list()]
  await waitFor(() => held.length === 3, { what: 'all slots of the token' })
  const waiting = [list(), list()]
  const areWaiting = async () => {
    const { body } = await api.inject(getRequest('/metrics', { authorization: 'Bearer two-2' }))
    return body.includes('punctual_lists{state="waiting"} 2')
  }
  await waitFor(areWaiting, { what: 'two lists to wait' })
  revoked.add('one-1')
  let isOver = false
  void Promise.all(waiting).then(() => (isOver = true))
  const next = () => {
    answerAll()
    return isOver
  }
  await waitFor(next, { what: 'every list to be answered' })
  for (const one of await Promise.all(before)) assert.equal(one.statusCode, 200)
  for (const one of await Promise.all(waiting)) assert.equal(one.json().code, 'unauthorized')
  const other = list('two-2')
  await waitFor(() => held.length === 1, { what: 'a slot' })
  answerAll()
  assert.equal((await other).statusCode, 200)
})

test('when the queue of the server is full, every caller gets the time to wait before the next try', async (t) => {
  const { api, held, list } = stage(t)
  for (let nth = 0; nth < 5; nth += 1) void list()
  for (let nth = 0; nth < 2; nth += 1) void list('two-2')
  await waitFor(() => held.length === 4, { what: 'all slots' })
  const third = await api.inject(getRequest('/v1/audit', { authorization: 'Bearer one-1' }))
  assert.equal(third.statusCode, 429)
  const refused = await list('two-2')
  assert.deepEqual([refused.statusCode, refused.json<{ code: string }>().code], [503, 'overloaded'])
  assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/)
})

test('a failing list gives its slot back', async (t) => {
  const scheduler = createFakeSchedulerClient({
    listRuns: () => Promise.reject(new Error('the reader thread exited')),
  })
  const limits = { slots: 1, slotsPerCaller: 1, waitingPerCaller: 0, leastMs: 0 }
  const api = createTestApi(scheduler, { lists: limits })
  t.after(() => api.close())
  for (let nth = 0; nth < 5; nth += 1)
    assert.equal((await api.inject(getRequest(LIST))).statusCode, 500)
})

test('metrics show lists that run, wait or were refused', async (t) => {
  const { api, held, list } = stage(t)
  for (let nth = 0; nth < 5; nth += 1) void list()
  await waitFor(() => held.length === 3, { what: 'the slots of one token' })
  assert.equal((await list()).statusCode, 429)
  const { body } = await api.inject(getRequest('/metrics'))
  assert.match(body, /^punctual_lists\{state="running"\} 3$/m)
  assert.match(body, /^punctual_lists\{state="waiting"\} 2$/m)
  assert.match(body, /^punctual_lists_refused_total\{code="rate_limited"\} 1$/m)
  assert.match(body, /^punctual_lists_refused_total\{code="overloaded"\} 0$/m)
})
