import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../src/core/limits.ts'
import type { WirePage } from '../../src/core/wire/views.ts'
import type { WireJob } from '../../src/core/job/job-views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { openApi } from './open-api.ts'

test('a job is defined, shown, listed, changed and deleted', async (t) => {
  const { call } = await openApi(t)
  const definition = { run: 'echo hi', timeout: '5m', tags: { team: 'a' } }
  const made = await call<WireJob>('PUT', '/v1/jobs/hello', { body: definition })
  assert.equal(made.status, 201)
  assert.deepEqual(
    [made.body.name, made.body.version, made.body.definition],
    ['hello', 1, definition],
  )
  assert.equal(made.headers.get('etag'), '"1"')
  assert.equal(made.body.updated_by, 'root')

  const same = await call<WireJob>('PUT', '/v1/jobs/hello', { body: definition })
  assert.deepEqual([same.status, same.body.version], [200, 1])
  const changed = await call<WireJob>('PUT', '/v1/jobs/hello', {
    body: { ...definition, run: 'echo ho' },
    headers: { 'if-match': '"1"' },
  })
  assert.deepEqual([changed.status, changed.body.version], [200, 2])
  const late = await call('PUT', '/v1/jobs/hello', {
    body: definition,
    headers: { 'if-match': '"1"' },
  })
  assert.deepEqual([late.status, late.body['code']], [412, 'version_conflict'])
  const again = await call('PUT', '/v1/jobs/hello', {
    body: definition,
    headers: { 'if-none-match': '*' },
  })
  assert.deepEqual([again.status, again.body['code']], [409, 'job_exists'])

  const list = await call<WirePage<WireJob>>('GET', '/v1/jobs?limit=1')
  assert.deepEqual([list.body.data.length, list.body.next_cursor], [1, null])
  const versions = await call<WirePage<{ version: number }>>(
    'GET',
    '/v1/jobs/hello/versions?limit=1',
  )
  assert.equal(versions.body.data[0]?.version, 2)
  const older = await call<WirePage<{ version: number }>>(
    'GET',
    `/v1/jobs/hello/versions?cursor=${versions.body.next_cursor}`,
  )
  assert.deepEqual(
    older.body.data.map(({ version }) => version),
    [1],
  )

  assert.equal((await call('DELETE', '/v1/jobs/hello')).status, 204)
  assert.equal((await call('GET', '/v1/jobs/hello')).body['code'], 'job_not_found')
})

test('a definition that would make its runs fail is refused', async (t) => {
  const { call } = await openApi(t)
  for (const [body, field] of [
    [{ run: 'a', argv: ['b'] }, 'argv'],
    [{ run: 'a', timeout: 'soon' }, 'timeout'],
    [{ run: 'a', input: 1 }, 'input'],
    [{ shell: '/bin/sh' }, 'shell'],
    [{ run: 'a', retry: { max: -1 } }, 'retry.max'],
  ] as const) {
    const { status, body: problem } = await call('PUT', '/v1/jobs/x', { body })
    assert.deepEqual([status, problem['field']], [422, field])
  }
  assert.equal((await call('PUT', '/v1/jobs/a%20b', { body: { run: 'a' } })).status, 422)
})

test('a run uses the version that was current when it was submitted', async (t) => {
  const api = await openApi(t)
  const { call } = api
  const rest = await call('PATCH', '/v1/queues/default', { body: { paused: true } })
  assert.equal(rest.status, 200)
  const define = (run: string) =>
    call('PUT', '/v1/jobs/hello', { body: { run, tags: { team: 'a' }, priority: 3 } })
  await define('echo one')
  const first = await call<{ id: string }>('POST', '/v1/jobs/hello/runs', { body: {} })
  assert.equal(first.status, 201)
  await define('echo two; cat "$PUNCTUAL_INPUT"')
  const second = await call<{ id: string }>('POST', '/v1/jobs/hello/runs', {
    body: { input: { n: 1 }, tags: { day: 'mon' } },
  })
  await api.startWorker()
  await call('PATCH', '/v1/queues/default', { body: { paused: false } })
  const end = async (id: string) => {
    const run = await call<WireRun>('GET', `/v1/runs/${id}?wait=60s`)
    const log = await call<string>('GET', `/v1/runs/${id}/logs/raw`)
    return { run: run.body, log: log.body }
  }
  const one = await end(first.body.id)
  assert.deepEqual([one.run.state, one.log, one.run.priority], ['succeeded', 'one\n', 3])
  const two = await end(second.body.id)
  assert.equal(two.log, 'two\n{"n":1}')
  assert.deepEqual(two.run.tags, { team: 'a', day: 'mon' })
  const live = await call('POST', '/v1/jobs/nobody/runs', { body: {} })
  assert.equal(live.body['code'], 'job_not_found')
})

test('a job with live runs is not deleted', async (t) => {
  const { call } = await openApi(t)
  await call('PUT', '/v1/jobs/hello', { body: { run: 'true' } })
  const run = await call<{ id: string }>('POST', '/v1/jobs/hello/runs', { body: {} })
  const refused = await call('DELETE', '/v1/jobs/hello')
  assert.deepEqual([refused.status, refused.body['code']], [409, 'job_is_live'])
  await call('POST', `/v1/runs/${run.body.id}/cancel`)
  assert.equal((await call('DELETE', '/v1/jobs/hello')).status, 204)
})

test('a paused job says since when and why', async (t) => {
  const { call } = await openApi(t)
  await call('PUT', '/v1/jobs/hello', { body: { run: 'true' } })
  const paused = await call<WireJob>('POST', '/v1/jobs/hello/pause', { body: { reason: 'moving' } })
  assert.equal(paused.body.paused?.reason, 'moving')
  const resumed = await call<WireJob>('POST', '/v1/jobs/hello/resume')
  assert.equal(resumed.body.paused, null)
  assert.equal((await call('POST', '/v1/jobs/nobody/resume')).status, 404)
})

test('a job may have a name of maximum length', async (t) => {
  const { call } = await openApi(t)
  const path = `/v1/jobs/${'n'.repeat(LIMITS.nameLength)}`
  assert.equal((await call('PUT', path, { body: { run: 'true' } })).status, 201)
  assert.equal((await call('GET', path)).status, 200)
})

test('a definition in which a shell may execute a value is accepted with a warning', async (t) => {
  const { call } = await openApi(t)
  const input = { x: { type: 'string' } }
  const single = { input, run: 'echo ${{ input.x }} | xargs rm' }
  const put = (body: object) => call<WireJob>('PUT', '/v1/jobs/load', { body })
  const made = await put(single)
  assert.deepEqual([made.status, made.body.version], [201, 1])
  const [warning, ...rest] = made.body.warnings ?? []
  assert.deepEqual([warning?.code, warning?.field, rest], ['value_may_run', 'run', []])
  assert.match(warning?.message ?? '', /^run: `xargs` runs its input as commands/)
  assert.match(warning?.hint ?? '', /as data/)
  // The warning is repeated at every definition, and shown nowhere else.
  assert.equal((await put(single)).body.warnings?.length, 1)
  assert.ok(!('warnings' in (await call('GET', '/v1/jobs/load')).body))
  const steps = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, n) => [`s${n}`, { run: `{ echo \${{ input.x }}; } | sh` }]),
    )
  const two = await put({ input, steps: steps(2) })
  assert.deepEqual(
    two.body.warnings?.map(({ field }) => field),
    ['steps.s0.run', 'steps.s1.run'],
  )
  assert.equal((await put({ input, steps: steps(150) })).body.warnings?.length, 100)
  const quiet = await put({ input, run: 'echo ${{ input.x }}' })
  assert.ok(!('warnings' in quiet.body))
})
