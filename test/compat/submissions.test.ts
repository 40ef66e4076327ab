import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { WireSubmittedJob } from '../../src/server/compat/wire.ts'
import { type OpenApi, openApi } from '../api/open-api.ts'
import { postgresUrl } from '../support/servers.ts'
import { waitFor } from '../support/wait-for.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Requests of a user without a token. */
function as(user: string | null, { call }: OpenApi, token: string | null = null) {
  const headers: Record<string, string> = user === null ? {} : { 'x-user-id': user }
  const show = async (id: string) =>
    (await call<WireSubmittedJob>('GET', `/job?id=${id}`, { token, headers })).body
  return {
    submit: (body: object) =>
      call<{ job_id: string; status: string; message: string }>('POST', '/submit', {
        body,
        token,
        headers,
      }),
    show,
    list: async () =>
      (await call<WireSubmittedJob[]>('GET', '/jobs', { token, headers })).body.map(
        ({ job_id: id }) => id,
      ),
    ended: (id: string, runs = 1) =>
      waitFor(
        async () => {
          const job = await show(id)
          return job.runs.filter((run) => run.completed_at).length >= runs ? job : undefined
        },
        { what: `${id} to end`, deadlineMs: 60_000 },
      ),
  }
}

async function open(t: TestContext, withWorker = true): Promise<OpenApi> {
  const api = await openApi(t, {}, { isOpen: true })
  if (withWorker) await api.startWorker({ projects: [] })
  return api
}

test('a command is submitted for a user, runs, and shows its columns and runs', async (t) => {
  const api = await open(t)
  const ada = as('ada', api)
  const payload = 'cmd:echo out\necho err >&2\nexit 0'
  const { status, body } = await ada.submit({ project_id: 'p1', payload, max_retries: 2 })
  assert.deepEqual([status, body.status, typeof body.message], [201, 'Submitted', 'string'])
  assert.match(body.job_id, UUID)
  const { runs, created_at, ...job } = await ada.ended(body.job_id)
  assert.deepEqual(job, {
    job_id: body.job_id,
    user_id: 'ada',
    project_id: 'p1',
    payload,
    cron_schedule: null,
    next_fire_at: null,
    max_retries: 2,
    status: 'succeeded',
  })
  const [run] = runs
  assert.ok(run && Date.parse(created_at) <= Date.parse(run.completed_at!))
  assert.deepEqual(Object.keys(run), [
    'run_id',
    'status',
    'triggered_at',
    'completed_at',
    'output',
    'worker_id',
    'error_message',
  ])
  assert.deepEqual(
    [run.status, run.output, run.worker_id, run.error_message],
    ['succeeded', 'out\nerr\n', 'w1', null],
  )
})

test('a payload that is not a command is passed on unchanged', async (t) => {
  const api = await open(t)
  const ada = as('ada', api)
  const payload = '{"order": 17, "note": "it\'s $HOME `x`"}'
  const { body } = await ada.submit({ project_id: 'p', payload })
  const job = await ada.ended(body.job_id)
  assert.deepEqual([job.payload, job.runs[0]?.output], [payload, payload])
})

test('a script of several kilobytes runs with the interpreter of its first line', async (t) => {
  const api = await open(t)
  const ada = as('ada', api)
  const filler = `# ${'x'.repeat(70)}\n`.repeat(100)
  const payload = `cmd:#!/bin/bash -e\n${filler}a=(one two)\necho "\${a[1]}"\n`
  const { body } = await ada.submit({ project_id: 'p', payload })
  const job = await ada.ended(body.job_id)
  assert.deepEqual([job.runs[0]?.output, job.payload], ['two\n', payload])
})

test('a failure is reported, after the requested number of retries', async (t) => {
  const api = await open(t)
  const ada = as('ada', api)
  const { body } = await ada.submit({ project_id: 'p', payload: 'cmd:exit 9', max_retries: 1 })
  const { status, runs } = await ada.ended(body.job_id)
  assert.deepEqual([status, runs.length, runs[0]?.status], ['failed', 1, 'failed'])
  assert.match(runs[0]?.error_message ?? '', /9/)
  const { body: native } = await api.call('GET', `/v1/runs/${runs[0]?.run_id}`, {
    headers: { 'punctual-project': 'p' },
  })
  assert.equal(native['attempt'], 2)
})

test('a job with a future time waits for it, in any zone', async (t) => {
  const api = await open(t)
  const ada = as('ada', api)
  const { body } = await ada.submit({
    project_id: 'p',
    payload: 'x',
    next_fire_at: '2999-01-31T09:00:00+02:00',
  })
  const job = await ada.show(body.job_id)
  assert.deepEqual([job.status, job.next_fire_at], ['pending', '2999-01-31T07:00:00.000Z'])
  const past = await ada.submit({
    project_id: 'p',
    payload: 'x',
    next_fire_at: '2001-01-01T00:00:00Z',
  })
  assert.equal((await ada.ended(past.body.job_id)).next_fire_at, null)
})

test('a recurring job runs repeatedly, from its first time if it has one', async (t) => {
  const api = await open(t)
  const ada = as('ada', api)
  const every = await ada.submit({
    project_id: 'p',
    payload: 'cmd:echo tick',
    cron_schedule: '@every 1s',
  })
  const job = await ada.ended(every.body.job_id, 2)
  assert.equal(job.cron_schedule, '@every 1s')
  assert.ok(job.next_fire_at)
  const seconds = await ada.submit({
    project_id: 'p',
    payload: 'x',
    cron_schedule: '*/1 * * * * *',
  })
  await ada.ended(seconds.body.job_id)

  const first = await ada.submit({
    project_id: 'p',
    payload: 'x',
    cron_schedule: '@yearly',
    next_fire_at: '2998-06-15T10:20:30Z',
  })
  const later = await ada.show(first.body.job_id)
  assert.equal(later.next_fire_at, '2998-06-15T10:20:30.000Z')
  const passed = await ada.submit({
    project_id: 'p',
    payload: 'x',
    cron_schedule: '@daily',
    next_fire_at: '2001-01-01T00:00:00Z',
  })
  const now = await ada.ended(passed.body.job_id)
  assert.ok(Date.parse(now.next_fire_at!) > Date.parse(now.created_at))
})

const STORES: [kind: string, url: () => Promise<string>][] = [
  ['SQLite', async () => 'sqlite::memory:'],
  ['PostgreSQL', postgresUrl],
]
for (const [kind, url] of STORES) {
  test(`a recurring job is pending between its runs, and running while any of them runs (${kind})`, async (t) => {
    const api = await openApi(t, { store: await url() }, { isOpen: true })
    const ada = as('ada', api)
    const { body } = await ada.submit({
      project_id: 'p',
      payload: 'cmd:true',
      cron_schedule: '@yearly',
      next_fire_at: '2001-01-01T00:00:00Z',
    })
    const id = body.job_id
    const plain = async () => {
      const headers = { 'punctual-project': 'p' }
      const { body: jobs } = await api.call<{ status: string }[]>('GET', '/jobs', { headers })
      return [(await ada.show(id)).status, jobs[0]?.status]
    }
    const worker = (path: string, more: object = {}) =>
      api.call('POST', path, { body: { worker_id: 'w', ...more }, token: null })
    await worker('/workers/register')
    for (const outcome of ['success', 'failure']) {
      const { id: job } = await waitFor(
        async () => {
          const next = await api.call<{ id: number }>('GET', '/workers/w/next', { token: null })
          return next.status === 200 ? next.body : undefined
        },
        { what: 'a run of it' },
      )
      const again = await api.call<{ data: { job: string }[] }>('GET', '/v1/runs', {
        headers: { 'punctual-project': 'p' },
      })
      assert.deepEqual(await plain(), ['running', 'running'])
      await api.call('POST', `/v1/jobs/${again.body.data[0]?.job}/runs`, {
        body: {},
        headers: { 'punctual-project': 'p' },
      })
      assert.deepEqual(await plain(), ['running', 'running'], 'although the latest run waits')
      await worker(`/jobs/${job}/log`, { status: outcome })
      assert.deepEqual(await plain(), ['pending', 'pending'])
      const { runs } = await ada.show(id)
      assert.equal(runs[1]?.status, outcome === 'success' ? 'succeeded' : 'failed')
    }
  })
}

test('on an open server a job without a user belongs to anonymous, and any user sees a job by its id', async (t) => {
  const api = await open(t, false)
  const nobody = as(null, api)
  const { status, body } = await nobody.submit({ project_id: 'p', payload: 'x' })
  assert.equal(status, 201)
  assert.equal((await nobody.show(body.job_id)).user_id, 'anonymous')
  assert.deepEqual(await as('anonymous', api).list(), [body.job_id])
  const ofAda = (await as('ada', api).submit({ project_id: 'p', payload: 'x' })).body.job_id
  assert.equal((await nobody.show(ofAda)).user_id, 'ada')
  const withToken = as(null, api, await api.token('admin', 'p'))
  const refused = await withToken.submit({ project_id: 'p', payload: 'x' })
  assert.deepEqual([refused.status, refused.body['field' as never]], [400, 'X-User-ID'])
  assert.equal((await withToken.show(ofAda)).user_id, 'ada')
  const elsewhere = as(null, api, await api.token('admin', 'q'))
  assert.equal(((await elsewhere.show(ofAda)) as unknown as { code: string }).code, 'job_not_found')
})

test('the id of a run is a UUID that every route accepts', async (t) => {
  const api = await open(t)
  const ada = as('ada', api)
  const { body } = await ada.submit({ project_id: 'default', payload: 'cmd:echo hi' })
  const [run] = (await ada.ended(body.job_id)).runs
  assert.match(run?.run_id ?? '', UUID)
  const get = (path: string) => api.call('GET', `/v1/runs/${run?.run_id}${path}`)
  const { status, body: native } = await get('')
  assert.equal(status, 200)
  assert.match(String(native['id']), /^run_/)
  for (const path of ['/attempts', '/why', '/logs', '/logs/raw', '/logs/follow']) {
    assert.equal((await get(path)).status, 200, path)
  }
  const again = await api.call('POST', `/v1/runs/${run?.run_id.toUpperCase()}/retry`, { body: {} })
  assert.equal(again.status, 201)
  const cancelled = await api.call('POST', `/v1/runs/${run?.run_id}/cancel`)
  assert.equal(cancelled.body['code'], 'run_is_final')
  const foreign = await api.call('GET', `/v1/runs/${run?.run_id}`, {
    token: await api.token('viewer', 'elsewhere'),
  })
  for (const { status: missing, body: problem } of [
    foreign,
    await api.call('GET', '/v1/runs/123e4567-e89b-12d3-a456-426614174000'),
    await api.call('GET', `/v1/runs/${body.job_id}`),
  ]) {
    assert.deepEqual([missing, problem['code']], [404, 'run_not_found'])
  }
})

test('users see their own jobs, in all their projects, newest first', async (t) => {
  const api = await open(t, false)
  const [ada, grace] = [as('ada', api), as('grace', api)]
  const one = (await ada.submit({ project_id: 'p1', payload: 'x' })).body.job_id
  const two = (await grace.submit({ project_id: 'p1', payload: 'x' })).body.job_id
  const three = (await ada.submit({ project_id: 'p2', payload: 'x' })).body.job_id
  assert.deepEqual(await ada.list(), [three, one])
  assert.deepEqual(await grace.list(), [two])
  assert.deepEqual(await as('nobody', api).list(), [])
  assert.equal(((await ada.show(two)) as unknown as { code: string }).code, 'job_not_found')
})

test('with a token the user is a label, and the token decides access', async (t) => {
  const api = await open(t, false)
  const stranger = as('ada', api)
  const mine = (await stranger.submit({ project_id: 'mine', payload: 'x' })).body.job_id
  const other = (await stranger.submit({ project_id: 'other', payload: 'x' })).body.job_id
  const ada = as('ada', api, await api.token('admin', 'mine'))
  assert.deepEqual(await ada.list(), [mine])
  assert.equal(((await ada.show(other)) as unknown as { code: string }).code, 'job_not_found')
  const elsewhere = await ada.submit({ project_id: 'other', payload: 'x' })
  assert.equal(elsewhere.status, 403)
  const viewer = as('ada', api, await api.token('viewer', 'mine'))
  assert.equal((await viewer.submit({ project_id: 'mine', payload: 'x' })).status, 403)
  assert.deepEqual(await viewer.list(), [mine])
})

test('projects are created on first use only on an open server without a token', async (t) => {
  const api = await open(t, false)
  const everywhere = await api.call<{ token: string }>('POST', '/v1/tokens', {
    body: { name: 'all', role: 'admin', everywhere: true },
  })
  const ada = as('ada', api, everywhere.body.token)
  const refused = await ada.submit({ project_id: 'unheard-of', payload: 'x' })
  assert.deepEqual([refused.status, refused.body['field' as never]], [422, 'project_id'])
  assert.equal(
    (await as('ada', api).submit({ project_id: 'unheard-of', payload: 'x' })).status,
    201,
  )
  assert.equal((await ada.submit({ project_id: 'unheard-of', payload: 'x' })).status, 201)
  assert.equal((await ada.list()).length, 2)
})
