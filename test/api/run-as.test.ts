import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireWhy, WireWorker } from '../../src/core/wire/views.ts'
import type { WireAssignment } from '../../src/core/wire/worker.ts'
import { openApi, type OpenApi } from './open-api.ts'

const HELLO = {
  name: 'w',
  queues: ['default'],
  labels: { disk: 'fast' },
  executors: ['shell'],
  slots: 4,
  registration: 1,
  held: [],
  forsaken: [],
}

async function register({ call }: OpenApi, more: object): Promise<string> {
  const { status, body } = await call<{ session: string }>('POST', '/v1/workers', {
    body: { ...HELLO, ...more },
  })
  assert.equal(status, 201, JSON.stringify(body))
  return body.session
}

async function take(
  { call }: OpenApi,
  session: string,
  wait_ms: number,
): Promise<WireAssignment[]> {
  const body = { registration: 1, number: 1, answered: 0, done: [], free: 4, wait_ms }
  const path = `/v1/workers/${session}/exchange`
  return (await call<{ runs: WireAssignment[] }>('POST', path, { body })).body.runs
}

test('a run for a user goes to a worker that allows this user, and to no other', async (t) => {
  const api = await openApi(t)
  await register(api, { users: ['www-data', '_apt'] })
  await api.call('PUT', '/v1/jobs/deploy', { body: { run: 'make install', run_as: 'deploy' } })
  const { body: run } = await api.call<{ id: string }>('POST', '/v1/runs', {
    body: { job: 'deploy', runs_on: { labels: { disk: 'fast' } } },
  })

  const { body: why } = await api.call<WireWhy>('GET', `/v1/runs/${run.id}/why`)
  assert.match(why.sentence, /for a worker that allows the user deploy\.$/)
  assert.match(why.fixes.join(), /--label disk=fast --allow-user deploy/)

  const session = await register(api, { name: 'w2', users: ['deploy'] })
  const [assigned] = await take(api, session, 5_000)
  assert.equal(assigned?.run, run.id)
  assert.equal(assigned?.work?.run_as, 'deploy')
})

test("users are shown next to labels and the worker's containment", async (t) => {
  const api = await openApi(t)
  const execution = { launcher: 'native', containment: 'pidns', limits: ['memory'], why: 'no cpu' }
  await register(api, { users: ['b', 'a'], execution })
  await register(api, { name: 'old' })
  const { body } = await api.call<{ data: WireWorker[] }>('GET', '/v1/workers')
  const [fresh, old] = body.data.toSorted((a, b) => (a.name > b.name ? -1 : 1))
  assert.deepEqual([fresh?.labels, fresh?.users], [{ disk: 'fast' }, ['a', 'b']])
  assert.deepEqual([fresh?.execution, old?.execution, old?.users], [execution, null, []])
})

test('a label that could be mistaken for a user is refused', async (t) => {
  const api = await openApi(t)
  const { status, body } = await api.call('POST', '/v1/workers', {
    body: { ...HELLO, labels: { 'run-as': 'root' } },
  })
  assert.deepEqual([status, body['field']], [422, 'labels.run-as'])
})
