import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { WireCompatJob, WireCompatJobDetail } from '../../src/server/compat/wire.ts'
import { type OpenApi, openApi } from '../api/open-api.ts'
import { waitFor } from '../support/wait-for.ts'

async function withWorker(t: TestContext): Promise<OpenApi> {
  const api = await openApi(t)
  await api.startWorker()
  return api
}

async function submit({ call }: OpenApi, body: object): Promise<WireCompatJob> {
  const { status, body: job } = await call<WireCompatJob>('POST', '/jobs', { body })
  assert.equal(status, 201, JSON.stringify(job))
  return job
}

function ended({ call }: OpenApi, id: number): Promise<WireCompatJobDetail> {
  return waitFor(
    async () => {
      const { body } = await call<WireCompatJobDetail>('GET', `/jobs/${id}`)
      return body.last_run?.end_time ? body : undefined
    },
    { what: `job ${id} to end`, deadlineMs: 60_000 },
  )
}

test('a command without a schedule runs once at once, and is shown with its last run', async (t) => {
  const api = await withWorker(t)
  const job = await submit(api, { name: 'Say hello!', command: 'echo hello; echo there >&2' })
  assert.deepEqual(Object.keys(job), ['id', 'name', 'command', 'schedule', 'created_at', 'status'])
  assert.equal(typeof job.id, 'number')
  const { last_run: run, ...shown } = await ended(api, job.id)
  assert.deepEqual(shown, { ...job, status: 'succeeded' })
  assert.deepEqual(
    [run?.job_id, run?.worker_id, run?.status, run?.logs],
    [job.id, 'w1', 'success', 'hello\nthere\n'],
  )
  assert.ok(run && run.run_id > 0 && run.start_time! <= run.end_time!)
})

test('names are free and may repeat; each is a job of its own', async (t) => {
  const api = await withWorker(t)
  const name = '  Nächtliche Sicherung № 1 / über alles  '
  const [one, two] = [
    await submit(api, { name, command: 'echo one' }),
    await submit(api, { name, command: 'exit 3', schedule: '' }),
  ]
  assert.deepEqual([one.name, two.name], [name, name])
  assert.notEqual(one.id, two.id)
  assert.equal((await ended(api, one.id)).last_run?.logs, 'one\n')
  const failed = await ended(api, two.id)
  assert.deepEqual([failed.status, failed.last_run?.status], ['failed', 'failure'])
  const { body: list } = await api.call<WireCompatJob[]>('GET', '/jobs')
  assert.deepEqual(
    list.map(({ id, status }) => [id, status]),
    [
      [two.id, 'failed'],
      [one.id, 'succeeded'],
    ],
  )
  const { body: next } = await api.call<WireCompatJob[]>('GET', `/jobs?limit=1&before=${two.id}`)
  assert.deepEqual(
    next.map(({ id }) => id),
    [one.id],
  )
})

test('a job that has not begun is pending and has no last run', async (t) => {
  const api = await openApi(t)
  const { id } = await submit(api, { name: 'later', command: 'true', schedule: null })
  const { body } = await api.call<WireCompatJobDetail>('GET', `/jobs/${id}`)
  assert.deepEqual([body.status, body.last_run], ['pending', null])
})

test('jobs defined otherwise are shown too, as a command line', async (t) => {
  const api = await openApi(t)
  const define = (name: string, body: object) => api.call('PUT', `/v1/jobs/${name}`, { body })
  await define('a', { argv: ['echo', "it's", 'a b'] })
  await define('b', { run: 'pwd', cwd: '/tmp', env: { A: 'x y' }, title: 'Where' })
  await define('c', { http: { url: 'https://example.org' } })
  const { body } = await api.call<WireCompatJob[]>('GET', '/jobs')
  assert.deepEqual(
    body.map(({ name, command }) => [name, command]),
    [
      ['c', null],
      ['Where', "cd /tmp && env A='x y' /bin/sh -c pwd"],
      ['a', `echo 'it'\\''s' 'a b'`],
    ],
  )
})

test('a job of another project is not found', async (t) => {
  const api = await openApi(t)
  const { id } = await submit(api, { name: 'mine', command: 'true' })
  const token = await api.token('admin', 'elsewhere')
  assert.equal((await api.call('GET', `/jobs/${id}`, { token })).status, 404)
  assert.deepEqual((await api.call('GET', '/jobs', { token })).body, [])
})

test('a schedule fires and is shown as written', async (t) => {
  const api = await withWorker(t)
  const every = await submit(api, { name: 'tick', command: 'echo tick', schedule: '@every 1s' })
  assert.equal(every.schedule, '@every 1s')
  const nightly = await submit(api, {
    name: 'night',
    command: 'true',
    schedule: 'CRON_TZ=Asia/Tokyo 0 30 2 * * *',
  })
  assert.equal(nightly.schedule, 'CRON_TZ=Asia/Tokyo 0 30 2 * * *')
  assert.equal((await ended(api, every.id)).last_run?.logs, 'tick\n')
  const { body } = await api.call<WireCompatJobDetail>('GET', `/jobs/${nightly.id}`)
  assert.equal(body.status, 'pending')
})
