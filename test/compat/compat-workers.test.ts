import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type {
  WireCompatJob,
  WireCompatJobDetail,
  WireCompatNext,
  WireCompatTask,
  WireCompatWorker,
} from '../../src/server/compat/wire.ts'
import { type OpenApi, openApi } from '../api/open-api.ts'
import {
  CALLERS,
  HEADERS,
  callerHeaders,
  makeCallers,
  projectOfCaller,
  refusalOf,
} from '../api/session-callers.ts'
import { postgresUrl } from '../support/servers.ts'
import { waitFor } from '../support/wait-for.ts'
import { scaledMs } from '../support/slowdown-factor.ts'

/** Requests of a worker that has only curl. */
function asCompatCaller(api: Pick<OpenApi, 'call'>) {
  const post = (path: string, body: object) => api.call('POST', path, { body })
  return {
    register: (worker_id: string) => post('/workers/register', { worker_id }),
    beat: (worker_id: string) => post('/workers/heartbeat', { worker_id }),
    next: (worker: string, query = '') =>
      api.call<WireCompatNext>('GET', `/workers/${worker}/next${query}`),
    report: (job: number, worker_id: string, status: string, logs?: string, more: object = {}) =>
      post(`/jobs/${job}/log`, {
        worker_id,
        status,
        ...(logs === undefined ? {} : { logs }),
        ...more,
      }),
    async submit(command: string, name = command) {
      const { body } = await api.call<WireCompatJob>('POST', '/jobs', { body: { name, command } })
      return body.id
    },
    async show(id: number) {
      return (await api.call<WireCompatJobDetail>('GET', `/jobs/${id}`)).body
    },
  }
}

async function open(t: TestContext, options: Parameters<typeof openApi>[1] = {}) {
  const api = await openApi(t, options)
  return { api, ...asCompatCaller(api) }
}

const SHORT = { compatTtlMs: scaledMs(4_000), reapMarginMs: 100, leaseTtlMs: 1_000 }

test('a worker registers, takes a job, reports progress and ends it', async (t) => {
  const { register, beat, next, report, submit, show } = await open(t)
  const registered = await register('w-1')
  const { last_seen, ...worker } = registered.body as unknown as WireCompatWorker
  assert.deepEqual([registered.status, worker], [200, { worker_id: 'w-1', status: 'active' }])
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

test('a job has its fields at the top and again under job, and an empty answer has the requested form', async (t) => {
  const { register, next, submit } = await open(t)
  await register('w')
  const empty = await next('w', '?empty=json')
  assert.deepEqual([empty.status, empty.body], [200, { job: null }])
  assert.equal((await next('w', '?empty=204')).status, 204)
  await submit('echo hi', 'Say hi')
  const { job, ...flat } = (await next('w', '?empty=json')).body
  assert.deepEqual(job, flat)
  assert.deepEqual(Object.keys(flat), [
    'id',
    'name',
    'command',
    'schedule',
    'created_at',
    'run_id',
    'attempt',
  ])
  assert.deepEqual((await next('w')).body, { ...flat, job })
})

const EXITS: [
  why: string,
  report: [status: string, exitCode: number | null | undefined],
  kept: { exit_code: number | null; cause: string | null; message: string | null },
][] = [
  ['success with 0', ['success', 0], { exit_code: 0, cause: null, message: null }],
  [
    'failure with a code',
    ['failure', 4],
    { exit_code: 4, cause: 'exit', message: 'exited with code 4' },
  ],
  [
    'failure by a signal, as some languages report it',
    ['failed', -1],
    { exit_code: -1, cause: 'exit', message: 'exited with code -1' },
  ],
  [
    'failure with a code of another system',
    ['failed', 0xc0000005],
    { exit_code: 0xc0000005, cause: 'exit', message: 'exited with code 3221225477' },
  ],
  [
    'failure with 0: the status decides',
    ['failure', 0],
    { exit_code: 0, cause: 'error', message: 'its worker reported a failure' },
  ],
  [
    'success with a code: the status decides',
    ['succeeded', 3],
    { exit_code: 3, cause: null, message: null },
  ],
  [
    'failure without a code',
    ['failure', undefined],
    { exit_code: null, cause: 'error', message: 'its worker reported a failure' },
  ],
  ['success without a code', ['success', null], { exit_code: null, cause: null, message: null }],
]
test('the exit code of a report is stored in last_run, in the run and in its attempt', async (t) => {
  const { api, register, next, report, submit, show } = await open(t)
  await register('w')
  for (const [why, [status, exitCode], kept] of EXITS) {
    const id = await submit('x')
    await next('w')
    // A report that does not end the attempt has no exit code.
    const running = await report(id, 'w', 'running', 'x\n', { exit_code: null })
    const ended = await report(id, 'w', status, undefined, { exit_code: exitCode })
    assert.deepEqual([running.status, ended.status], [200, 200], why)
    assert.equal((await show(id)).last_run?.exit_code, kept.exit_code, why)
    const { body } = await api.call<{ data: Record<string, unknown>[] }>('GET', '/v1/runs?limit=1')
    const run = body.data[0] ?? {}
    const { exit_code: code = null } = run['process'] as { exit_code?: number }
    assert.deepEqual({ exit_code: code, cause: run['cause'], message: run['message'] }, kept, why)
    const attempts = await api.call<{ data: { exit_code: number | null }[] }>(
      'GET',
      `/v1/runs/${run['id'] as string}/attempts`,
    )
    assert.equal(attempts.body.data[0]?.exit_code, kept.exit_code, why)
  }
})

test('an unfinished job is given again, before any other', async (t) => {
  const { register, next, report, submit } = await open(t)
  await register('w')
  const ids = [await submit('one'), await submit('two')]
  const first = await next('w')
  for (const _ of [1, 2, 3]) assert.deepEqual((await next('w')).body, first.body)
  assert.equal(first.body.id, ids[0])
  await report(first.body.id, 'w', 'success')
  assert.equal((await next('w')).body.id, ids[1])
})

test('a worker that registers again continues with its job', async (t) => {
  const { register, next, report, submit } = await open(t)
  await register('w')
  const id = await submit('x')
  const { body: task } = await next('w')
  await register('w')
  assert.deepEqual((await next('w')).body, task)
  assert.equal((await report(id, 'w', 'success')).status, 200)
})

test('a worker waits for a job as long as it asks to', async (t) => {
  const { register, next, submit } = await open(t)
  await register('w')
  const waiting = next('w', '?wait=20s')
  const id = await submit('x')
  assert.equal((await waiting).body.id, id)
})

test('only the worker that has a job can report on it', async (t) => {
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

test('a worker that never registered is unknown', async (t) => {
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

test('a silent worker loses its job to another, and its late report is refused', async (t) => {
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
      return performance.now() - since > 1.5 * SHORT.compatTtlMs
    },
    { what: 'longer than silence may last', intervalMs: 50 },
  )
  assert.equal((await report(id, 'w', 'success')).status, 200)
  const runs = await api.call<{ data: { lost: number }[] }>('GET', '/v1/runs')
  assert.equal(runs.body.data[0]?.lost, 0)
})

test('a cancelled job is not given again', async (t) => {
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

test('long logs are stored whole, and bytes that are not text are kept', async (t) => {
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

test('only jobs of the compat queue go to compat workers, and none with limits', async (t) => {
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

test('a worker of one project and one of all projects are two, even with one name', async (t) => {
  const { api, register } = await open(t)
  await register('w')
  const submit = (project: string) =>
    api.call('POST', '/jobs', {
      body: { name: project, command: 'true' },
      headers: { 'punctual-project': project },
    })
  await submit('elsewhere')
  const token = await api.token('worker', 'default')
  const next = () => api.call<WireCompatTask>('GET', '/workers/w/next', { token })
  assert.equal((await next()).status, 404)
  await api.call('POST', '/workers/register', { token, body: { worker_id: 'w' } })
  assert.equal((await next()).status, 204)
  assert.equal((await api.call<WireCompatTask>('GET', '/workers/w/next')).body.name, 'elsewhere')
})

test('two tokens with the same worker name have a worker each', async (t) => {
  const { api, submit, show } = await open(t)
  const [mine, theirs] = [await api.token('worker'), await api.token('worker')]
  const as = (token: string) =>
    asCompatCaller({
      call: (method, path, options = {}) => api.call(method, path, { ...options, token }),
    })
  assert.equal((await as(mine).register('w')).status, 200)
  const id = await submit('echo hi')
  assert.equal((await as(mine).next('w')).status, 200)
  assert.equal((await as(theirs).next('w')).body['code' as never], 'worker_not_found')
  assert.equal((await as(theirs).report(id, 'w', 'success')).body['code'], 'worker_not_found')
  assert.equal((await as(theirs).register('w')).status, 200)
  assert.equal((await as(theirs).next('w')).status, 204)
  assert.equal((await as(theirs).report(id, 'w', 'failure')).body['code'], 'lease_lost')
  assert.equal((await show(id)).status, 'running')
  assert.equal((await as(mine).report(id, 'w', 'success')).status, 200)
  assert.equal((await show(id)).status, 'succeeded')
})

/** Requests of a compat worker, and their results for a token that did not register it. */
const COMPAT_ROUTES = ['heartbeat', 'next', 'report', 'register'] as const
/**
 * The token that registered the worker, and the header it sent: without one, a token of the installation serves
 * all projects.
 */
const OWNERS = [
  ['its own token', 'none'],
  ['a token of the installation', 'none'],
  ['a token of the installation', 'default'],
] as const

test('every compat worker × token × project × route is answered as the rules say', async (t) => {
  const { api, submit, show } = await open(t)
  const tokens = await makeCallers(api)
  const violations: string[] = []
  let combinations = 0
  for (const [owner, ownHeader] of OWNERS) {
    for (const caller of CALLERS) {
      for (const header of HEADERS) {
        for (const route of COMPAT_ROUTES) {
          // A separate name each time: a token that has registered the name itself would be accepted.
          const name = `w-${combinations}`
          const as = (who: typeof caller, project: typeof header) =>
            asCompatCaller({
              call: (method, path, options = {}) =>
                api.call(method, path, {
                  ...options,
                  token: tokens.get(who) ?? null,
                  headers: callerHeaders(project),
                }),
            })
          const victim = as(owner, ownHeader)
          await victim.register(name)
          const job = await submit('true')
          assert.equal((await victim.next(name)).body.id, job)
          const thief = as(caller, header)
          const { status, body } = await {
            heartbeat: () => thief.beat(name),
            next: () => thief.next(name),
            report: () => thief.report(job, name, 'running', 'forged'),
            register: () => thief.register(name),
          }[route]()
          const answer = status < 300 ? 'ok' : String(body['code' as never])
          // For a token of one project, its own header changes nothing. For others it is another worker.
          const isBound = projectOfCaller(caller) !== null
          const isOwner = caller === owner && (isBound || header === ownHeader)
          const isLetIn = isOwner || route === 'register'
          const wanted = refusalOf(caller, header) ?? (isLetIn ? 'ok' : 'worker_not_found')
          combinations += 1
          const what = `of ${owner} (${ownHeader}): ${caller}, project ${header}, ${route}`
          if (answer !== wanted) violations.push(`${what}: ${answer} instead of ${wanted}`)
          const { last_run: run } = await show(job)
          const isTheirs = isOwner && route === 'report' && wanted === 'ok'
          if (run?.logs !== (isTheirs ? 'forged' : '')) violations.push(`${what}: forged output`)
          const ended = await victim.report(job, name, 'success')
          if (ended.status !== 200) violations.push(`${what}: the worker lost its job`)
        }
      }
    }
  }
  assert.deepEqual(violations, [])
  const perOwner = CALLERS.length * HEADERS.length * COMPAT_ROUTES.length
  assert.equal(combinations, OWNERS.length * perOwner)
  t.diagnostic(`${combinations} combinations`)
})
