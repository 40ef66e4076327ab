import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireExchangeAnswer, WireWelcome } from '../../src/core/wire/worker.ts'
import { type OpenApi, openApi } from './open-api.ts'
import { everythingIn } from './refusals.ts'

type Call = [method: string, path: string, body?: unknown]

/** Calls as project `a`, and records each successful call. */
function recorder({ call }: OpenApi, token: string) {
  const calls: Call[] = []
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await call<T>(method, path, { token, ...(body === undefined ? {} : { body }) })
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    calls.push([method, path, body])
    return answer.body
  }
  return { calls, ask }
}

/** Uses every object and operation of a project. */
async function live(api: OpenApi, admin: string, worker: string): Promise<Call[]> {
  const { calls, ask } = recorder(api, admin)
  const work = recorder(api, worker)
  await ask('PUT', '/v1/jobs/secret-job', { task: 'secret-job', queue: 'secret-queue' })
  await ask('GET', '/v1/jobs/secret-job')
  await ask('GET', '/v1/jobs/secret-job/versions')
  await ask('PATCH', '/v1/queues/secret-queue', { max_timeout: '1h' })
  const token = await ask<{ id: string }>('POST', '/v1/tokens', {
    name: 'secret-token',
    role: 'viewer',
  })
  const { session } = await work.ask<WireWelcome>('POST', '/v1/workers', {
    name: 'secret-worker',
    queues: ['secret-queue'],
    labels: {},
    slots: 4,
    registration: 1,
    executors: ['handler:secret-job'],
    held: [],
    forsaken: [],
  })
  const speak = <T>(verb: string, body: object) =>
    work.ask<T>('POST', `/v1/workers/${session}/${verb}`, { registration: 1, ...body })
  const runs: string[] = []
  for (let count = 0; count < 3; count += 1) {
    const { id } = await ask<{ id: string }>('POST', '/v1/jobs/secret-job/runs', {
      input: 'secret',
    })
    runs.push(id)
  }
  const message = { answered: 0, done: [], free: 2, wait_ms: 0 }
  const granted = (await speak<WireExchangeAnswer>('exchange', { ...message, number: 1 })).runs
  const held = granted.map(({ run, fence }) => ({ run, fence }))
  await speak('heartbeat', { answered: 1, held })
  const chunks = held.map((one) => ({ ...one, chunk: 0, entries: [[0, 1, 'secret\n']] }))
  await speak('logs', { chunks })
  const [first = '', , last = ''] = runs
  for (const part of ['', '/attempts', '/why', '/logs', '/logs/raw']) {
    await ask('GET', `/v1/runs/${held[0]?.run}${part}`)
  }
  await ask('POST', `/v1/runs/${last}/cancel`)
  await ask('POST', `/v1/runs/${last}/retry`)
  const done = held.map((one) => ({ ...one, outcome: 'succeeded', result: '"secret"' }))
  await speak('exchange', { ...message, answered: 1, number: 2, done })
  await ask('GET', `/v1/runs/${first}/logs/follow`)
  await ask('POST', '/v1/jobs/secret-job/pause', { reason: 'secret' })
  await ask('POST', '/v1/jobs/secret-job/resume')
  await ask('DELETE', `/v1/tokens/${token.id}`)
  return [...calls, ...work.calls]
}

/** Calls that name no object of project `a`: they are repeated in the caller's own project. */
const OWN = /^(PUT \/v1\/jobs\/|PATCH \/v1\/queues|POST \/v1\/tokens$|POST \/v1\/workers$)/
const ALLOWED = [401, 403, 404]

test('requests of one project, replayed with the token of another, reach nothing', async (t) => {
  const api = await openApi(t)
  const calls = await live(api, await api.token('admin', 'a'), await api.token('worker', 'a'))
  const other = { admin: await api.token('admin', 'b'), worker: await api.token('worker', 'b') }
  assert.ok(calls.length >= 24, `${calls.length} calls`)
  const before = JSON.stringify(await everythingOf(api, 'a'))
  for (const [method, path, body] of calls) {
    if (OWN.test(`${method} ${path}`)) continue
    for (const token of Object.values(other)) {
      const options = { token, ...(body === undefined ? {} : { body }) }
      const answer = await api.call(method, path, options)
      assert.ok(ALLOWED.includes(answer.status), `${method} ${path} gave ${answer.status}`)
      assert.doesNotMatch(JSON.stringify(answer.body), /secret(?!-job)/, `${method} ${path}`)
    }
  }
  assert.equal(JSON.stringify(await everythingOf(api, 'a')), before, 'nothing of a has changed')
})

test('requests of one project, repeated by another for itself, stay separate', async (t) => {
  const api = await openApi(t)
  const calls = await live(api, await api.token('admin', 'a'), await api.token('worker', 'a'))
  const token = await api.token('admin', 'b')
  const before = JSON.stringify(await everythingOf(api, 'a'))
  for (const [method, path, body] of calls.filter(([m, p]) => OWN.test(`${m} ${p}`))) {
    const { status } = await api.call(method, path, { token, body })
    assert.ok(status < 300, `${method} ${path} gave ${status}`)
  }
  assert.equal(JSON.stringify(await everythingOf(api, 'a')), before)
  const [runs] = await everythingOf(api, 'b')
  assert.deepEqual(runs, { data: [], next_cursor: null })
})

/** All state of a project as the installation sees it, without token uses and worker names. */
async function everythingOf(api: OpenApi, project: string): Promise<unknown[]> {
  const call: OpenApi['call'] = (method, path, options = {}) =>
    api.call(method, path, { ...options, headers: { 'punctual-project': project } })
  const [runs, jobs, queues, workers, tokens, audit] = await everythingIn({ ...api, call })
  const { data } = tokens as { data: Record<string, unknown>[] }
  return [runs, jobs, queues, workers, data.map(({ last_used_at: _, ...token }) => token), audit]
}
