import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type {
  WirePlainJob,
  WirePlainJobDetail,
  WirePlainTask,
  WirePlainWorker,
} from '../../src/server/compat/wire.ts'
import { type OpenApi, openApi } from '../api/open-api.ts'
import { postgresUrl } from '../support/servers.ts'
import { waitFor } from '../support/wait-for.ts'

/** Requests as a worker makes them that has nothing but curl. */
function plainly(api: Pick<OpenApi, 'call'>) {
  const post = (path: string, body: object) => api.call('POST', path, { body })
  return {
    register: (worker_id: string) => post('/workers/register', { worker_id }),
    beat: (worker_id: string) => post('/workers/heartbeat', { worker_id }),
    next: (worker: string, query = '') =>
      api.call<WirePlainTask>('GET', `/workers/${worker}/next${query}`),
    report: (job: number, worker_id: string, status: string, logs?: string) =>
      post(`/jobs/${job}/log`, { worker_id, status, ...(logs === undefined ? {} : { logs }) }),
    async submit(command: string, name = command) {
      const { body } = await api.call<WirePlainJob>('POST', '/jobs', { body: { name, command } })
      return body.id
    },
    async show(id: number) {
      return (await api.call<WirePlainJobDetail>('GET', `/jobs/${id}`)).body
    },
  }
}

async function open(t: TestContext, options: Parameters<typeof openApi>[1] = {}) {
  const api = await openApi(t, options)
  return { api, ...plainly(api) }
}

const SHORT = { plainTtlMs: 4_000, reapMarginMs: 100, leaseTtlMs: 1_000 }

test('a worker registers, takes a job, says how it goes and ends it', async (t) => {
  const { register, beat, next, report, submit, show } = await open(t)
  const registered = await register('w-1')
  const { last_seen, ...worker } = registered.body as unknown as WirePlainWorker
  assert.deepEqual([registered.status, worker], [201, { worker_id: 'w-1', status: 'active' }])
  assert.ok(Date.parse(last_seen) > 0)
  assert.equal((await beat('w-1')).status, 200)
  assert.equal((await next('w-1')).status, 204)

  const id = await submit('echo hi', 'Say hi')
  const { status, body: task } = await next('w-1')
  assert.equal(status, 200)
  assert.deepEqual(
    [task.id, task.name, task.command, task.schedule, task.attempt],
    [id, 'Say hi', 'echo hi', null, 1],
  )
  const running = await show(id)
  assert.deepEqual(
    [running.status, running.last_run?.status, running.last_run?.worker_id],
    ['running', 'running', 'w-1'],
  )
  assert.equal((await report(id, 'w-1', 'running', 'one\n')).status, 200)
  assert.equal((await report(id, 'w-1', 'running', 'two\n')).status, 200)
  assert.equal((await show(id)).last_run?.logs, 'one\ntwo\n')
  assert.equal((await report(id, 'w-1', 'success', 'three\n')).status, 200)
  const { last_run: run, status: after } = await show(id)
  assert.deepEqual(
    [after, run?.run_id, run?.status, run?.worker_id, run?.logs],
    ['succeeded', task.run_id, 'success', 'w-1', 'one\ntwo\nthree\n'],
  )
  assert.equal((await next('w-1')).status, 204)
})

for (const [word, status] of [
  ['success', 'succeeded'],
  ['succeeded', 'succeeded'],
  ['failure', 'failed'],
  ['failed', 'failed'],
] as const) {
  test(`a report of ${word} ends a job as ${status}`, async (t) => {
    const { register, next, report, submit, show } = await open(t)
    await register('w')
    const id = await submit('true')
    await next('w')
    assert.equal((await report(id, 'w', word)).status, 200)
    assert.equal((await show(id)).status, status)
  })
}

test('what is not finished is given again, and nothing else before it', async (t) => {
  const { register, next, report, submit } = await open(t)
  await register('w')
  const ids = [await submit('one'), await submit('two')]
  const first = await next('w')
  for (const _ of [1, 2, 3]) assert.deepEqual((await next('w')).body, first.body)
  assert.equal(first.body.id, ids[0])
  await report(first.body.id, 'w', 'success')
  assert.equal((await next('w')).body.id, ids[1])
})

test('a worker that registers again goes on with what it held', async (t) => {
  const { register, next, report, submit } = await open(t)
  await register('w')
  const id = await submit('x')
  const { body: task } = await next('w')
  await register('w')
  assert.deepEqual((await next('w')).body, task)
  assert.equal((await report(id, 'w', 'success')).status, 200)
})

test('a worker waits for a job if it says how long', async (t) => {
  const { register, next, submit } = await open(t)
  await register('w')
  const waiting = next('w', '?wait=20s')
  const id = await submit('x')
  assert.equal((await waiting).body.id, id)
})

test('a report goes to the one who has the job in hand, and to nobody else', async (t) => {
  const { register, next, report, submit } = await open(t)
  await Promise.all([register('a'), register('b')])
  const id = await submit('x')
  assert.equal((await report(id, 'a', 'success')).status, 409)
  await next('a')
  const refused = await report(id, 'b', 'success')
  assert.deepEqual([refused.status, refused.body['code']], [409, 'lease_lost'])
  assert.equal((await report(id, 'a', 'success')).status, 200)
  assert.equal((await report(id, 'a', 'success')).status, 409)
})

test('whoever never registered is not known', async (t) => {
  const { beat, next, report, submit } = await open(t)
  const id = await submit('x')
  for (const { status, body } of [
    await beat('nobody'),
    await next('nobody'),
    await report(id, 'nobody', 'success'),
  ]) {
    assert.deepEqual([status, body['code' as never]], [404, 'worker_not_found'])
  }
})

test('a worker that falls silent loses its job to another, and its late report is refused', async (t) => {
  const { register, next, report, submit, show } = await open(t, { config: SHORT })
  await register('silent')
  const id = await submit('x')
  const { body: lost } = await next('silent')
  await report(id, 'silent', 'running', 'begun\n')
  const heir = await waitFor(
    async () => {
      await register('heir')
      const { status, body } = await next('heir')
      return status === 200 ? body : undefined
    },
    { what: 'another worker to get the job' },
  )
  assert.deepEqual([heir.id, heir.run_id, heir.attempt], [id, lost.run_id, 2])
  const late = await report(id, 'silent', 'success', 'too late\n')
  assert.deepEqual([late.status, late.body['code']], [409, 'lease_lost'])
  assert.equal((await report(id, 'heir', 'success', 'done\n')).status, 200)
  const { last_run: run } = await show(id)
  assert.deepEqual([run?.worker_id, run?.status, run?.logs], ['heir', 'success', 'done\n'])
})

test('any request counts as a heartbeat', async (t) => {
  const { api, register, next, report, beat, submit } = await open(t, { config: SHORT })
  await register('w')
  const id = await submit('x')
  await next('w')
  const since = performance.now()
  const requests = [() => beat('w'), () => next('w'), () => report(id, 'w', 'running', '.')]
  let asked = 0
  await waitFor(
    async () => {
      const { status } = await requests[asked++ % requests.length]!()
      assert.equal(status, 200)
      return performance.now() - since > 1.5 * SHORT.plainTtlMs
    },
    { what: 'longer than silence may last', intervalMs: 50 },
  )
  assert.equal((await report(id, 'w', 'success')).status, 200)
  const runs = await api.call<{ data: { lost: number }[] }>('GET', '/v1/runs')
  assert.equal(runs.body.data[0]?.lost, 0)
})

test('a job that was cancelled is not given again', async (t) => {
  const { api, register, next, report, submit, show } = await open(t)
  await register('w')
  const id = await submit('x')
  await next('w')
  const runs = await api.call<{ data: { id: string }[] }>('GET', '/v1/runs')
  await api.call('POST', `/v1/runs/${runs.body.data[0]?.id}/cancel`)
  assert.equal((await next('w')).status, 204)
  assert.equal((await show(id)).status, 'failed')
  assert.equal((await report(id, 'w', 'success')).status, 409)
})

test('long logs are kept whole, and what is no letter survives', async (t) => {
  const { register, next, report, submit, show } = await open(t)
  await register('w')
  const id = await submit('x')
  await next('w')
  const long = `${'ü€😀\u0000'.repeat(40_000)}\n`
  await report(id, 'w', 'running', long)
  await report(id, 'w', 'success', 'end\n')
  const { last_run: run } = await show(id)
  assert.equal(run?.logs, `${long}end\n`)
})

test('only jobs of the plain queue are given to plain workers, and never one with limits', async (t) => {
  const { api, register, next } = await open(t)
  await register('w')
  const run = async (body: object) =>
    (await api.call<{ id: string }>('POST', '/v1/runs', { body })).body.id
  await run({ run: 'true' })
  assert.equal((await next('w')).status, 204)
  const id = await run({ run: 'true', queue: 'plain', limits: { memory: '64MiB' } })
  assert.equal((await next('w')).status, 204)
  const { body } = await api.call('GET', `/v1/runs/${id}`)
  assert.deepEqual([body['state'], body['cause']], ['failed', 'start_error'])
  await run({ argv: ['echo', 'a b'], queue: 'plain' })
  assert.equal((await next('w')).body.command, `echo 'a b'`)
})

test('a worker may ask another node every time', async (t) => {
  const store = await postgresUrl()
  const [one, two] = [await open(t, { store }), await open(t, { store })]
  await one.register('w')
  const id = await one.submit('x')
  const given = await waitFor(
    async () => {
      const { status, body } = await two.next('w')
      return status === 200 ? body : undefined
    },
    { what: 'the job to be seen by the other node' },
  )
  assert.equal(given.id, id)
  assert.deepEqual((await one.next('w')).body, given)
  assert.equal((await two.report(id, 'w', 'running', 'one\n')).status, 200)
  assert.equal((await one.report(id, 'w', 'running', 'two\n')).status, 200)
  assert.equal((await two.report(id, 'w', 'success')).status, 200)
  assert.equal((await one.report(id, 'w', 'success')).status, 409)
  assert.equal((await one.show(id)).last_run?.logs, 'one\ntwo\n')
})

test('a worker of one project and one of all are two, even under one name', async (t) => {
  const { api, register } = await open(t)
  await register('w')
  const submit = (project: string) =>
    api.call('POST', '/jobs', {
      body: { name: project, command: 'true' },
      headers: { 'punctual-project': project },
    })
  await submit('elsewhere')
  const token = await api.token('worker', 'default')
  const next = () => api.call<WirePlainTask>('GET', '/workers/w/next', { token })
  assert.equal((await next()).status, 404)
  await api.call('POST', '/workers/register', { token, body: { worker_id: 'w' } })
  assert.equal((await next()).status, 204)
  assert.equal((await api.call<WirePlainTask>('GET', '/workers/w/next')).body.name, 'elsewhere')
})
