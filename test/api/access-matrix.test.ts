import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasPermission, ROLES } from '../../src/core/permission.ts'
import type { Route } from '../../src/server/api/http/route-table.ts'
import { mintSecret, signedHeaders } from '../../src/server/webhooks/signing.ts'
import { type OpenApi, openApi } from './open-api.ts'

/** Creates one of each kind in a project, so that a refusal is about the caller and not a missing object. */
async function createFixtures({ call }: OpenApi, project: string) {
  const headers = { 'punctual-project': project }
  await call('PUT', '/v1/jobs/thing', { body: { run: 'true' }, headers })
  await call('PUT', '/v1/jobs/thing/schedules/thing', { body: SCHEDULE, headers })
  await call('PATCH', '/v1/queues/thing', { body: { paused: true }, headers })
  const run = await call<{ id: string }>('POST', '/v1/runs', {
    body: { run: 'true', queue: 'thing' },
    headers,
  })
  const token = await call<{ id: string }>('POST', '/v1/tokens', {
    body: { name: 'victim', role: 'viewer' },
    headers,
  })
  await call('PUT', '/v1/webhooks/thing', { body: WEBHOOK, headers })
  await call('PUT', '/v1/secrets/HOOK_THING', { body: { value: HOOK_SECRET }, headers })
  const delivery = await call<{ id: string }>('POST', '/v1/webhooks/thing/test', { headers })
  const job = await call<{ id: number }>('POST', '/jobs', {
    body: { name: 'thing', command: 'true' },
    headers,
  })
  const backfill = await call<{ id: string }>('POST', '/v1/jobs/thing/schedules/thing/backfill', {
    body: BACKFILL,
    headers,
  })
  return {
    run: run.body.id,
    token: token.body.id,
    delivery: delivery.body.id,
    job: job.body.id,
    project,
    backfill: backfill.body.id,
  }
}

type Things = Awaited<ReturnType<typeof createFixtures>>

/** A valid request for a route, about these objects. */
function requestFor({ method, path }: Route, things: Things) {
  const filled = path
    .replace('{name}', 'thing')
    .replace('{schedule}', 'thing')
    .replace('{step}', 'thing')
    .replace('/v1/runs/{id}', `/v1/runs/${things.run}`)
    .replace('/v1/backfills/{id}', `/v1/backfills/${things.backfill}`)
    .replace('/v1/tokens/{id}', `/v1/tokens/${things.token}`)
    .replace('/deliveries/{id}', `/deliveries/${things.delivery}`)
    .replace('/jobs/{id}', `/jobs/${things.job}`)
    .replace('/workers/{id}', `/workers/${things.project}`)
    .replace('{session}', 'ses_00000000001')
    .replace(/search$/, 'search?q=x')
    .replace('/v1/hooks/thing', `/v1/hooks/thing?project=${things.project}`)
    .replace(/^\/job$/, '/job?id=x')
  const body = path === '/submit' ? submissionTo(things) : BODIES[`${method} ${path}`]
  const headers = headersFor(path)
  return { method, path: filled, headers, ...(body ? { body } : {}) }
}

function headersFor(path: string): Record<string, string> {
  if (/^\/(submit|job)$/.test(path)) return { 'x-user-id': 'ada' }
  if (path !== '/v1/hooks/{name}') return {}
  const call = { id: 'msg_1', body: '{}', at: Math.floor(Date.now() / 1_000) }
  return signedHeaders(call, [HOOK_SECRET])
}

const HOOK_SECRET = mintSecret()
const SCHEDULE = { at: '2999-01-01T00:00:00Z' }
const submissionTo = ({ project }: Things) => ({ project_id: project, payload: 'x' })
const BACKFILL = { from: '2026-01-01T00:00:00Z' }
const WEBHOOK = { url: 'http://127.0.0.1:9/', events: ['run.failed'] }
const HELLO = {
  name: 'w',
  queues: ['x'],
  labels: {},
  executors: ['shell'],
  slots: 1,
  registration: 1,
  held: [],
  forsaken: [],
}
const BODIES: Readonly<Record<string, object>> = {
  'POST /v1/runs': { job: 'thing' },
  'POST /v1/runs:batch': { runs: [{ job: 'thing' }] },
  'PUT /v1/jobs/{name}': { run: 'false' },
  'POST /v1/jobs/{name}/pause': {},
  'POST /v1/jobs/{name}/runs': {},
  'PUT /v1/jobs/{name}/schedules/{schedule}': SCHEDULE,
  'POST /v1/jobs/{name}/schedules/{schedule}/pause': {},
  'POST /v1/jobs/{name}/schedules/{schedule}/backfill': BACKFILL,
  'POST /v1/schedules/preview': SCHEDULE,
  'PATCH /v1/queues/{name}': { paused: true },
  'PATCH /v1/queues': { paused: false },
  'POST /v1/tokens': { name: 'new', role: 'viewer' },
  'PUT /v1/secrets/{name}': { value: 'hunter22' },
  'POST /v1/webhooks': { ...WEBHOOK, name: 'new' },
  'PUT /v1/webhooks/{name}': WEBHOOK,
  'POST /v1/webhooks/{name}/rotate': {},
  'POST /v1/workers': HELLO,
  'POST /v1/hooks/{name}': {},
  'POST /v1/workers/{session}/exchange': {
    registration: 1,
    number: 1,
    answered: 0,
    done: [],
    free: 0,
    wait_ms: 0,
  },
  'POST /v1/workers/{session}/heartbeat': { registration: 1, answered: 0, held: [] },
  'POST /v1/workers/{session}/logs': {
    registration: 1,
    chunks: [{ run: 'run_00000000001', fence: 1, chunk: 0, entries: [[0, 1, 'x']] }],
  },
  'POST /v1/workers/{session}/leave': { registration: 1 },
  'POST /jobs': { name: 'x', command: 'true' },
  'POST /jobs/{id}/log': { worker_id: 'w', status: 'running' },
  'POST /workers/register': { worker_id: 'w' },
  'POST /workers/heartbeat': { worker_id: 'w' },
}

test('every route accepts exactly the roles it should, and no caller of another project', async (t) => {
  const api = await openApi(t)
  const routes = api.scheduler.routes()
  assert.ok(routes.length >= 30, `${routes.length} routes`)
  let assertions = 0
  const expect = (ok: boolean, why: string) => {
    assertions += 1
    assert.ok(ok, why)
  }
  for (const role of ROLES) {
    const [mine, other] = [`mine-${role}`, `other-${role}`]
    const own = { things: await createFixtures(api, mine), token: await api.token(role, mine) }
    const foreign = await createFixtures(api, other)
    for (const route of routes) {
      const name = `${route.method} ${route.path}`
      const { method, path, ...rest } = requestFor(route, own.things)
      const ask = ({ headers = {}, ...options }: { token: string | null; headers?: object }) =>
        api.call(method, path, { ...rest, ...options, headers: { ...rest.headers, ...headers } })

      const asked = await ask({ token: own.token })
      const isLetIn = asked.status !== 401 && asked.status !== 403
      const mayAsk = route.permission === 'public' || hasPermission(role, route.permission)
      const should = mayAsk && !route.everywhere
      expect(isLetIn === should, `${role}: ${name} gave ${asked.status}`)
      expect(asked.status < 500, `${role}: ${name} gave ${asked.status}`)
      if (route.permission === 'public') continue

      const stranger = await ask({ token: null })
      expect(stranger.status === 401, `nobody: ${name} gave ${stranger.status}`)
      const elsewhere = await ask({ token: own.token, headers: { 'punctual-project': other } })
      expect(elsewhere.status === 403, `${role} elsewhere: ${name} gave ${elsewhere.status}`)
      if (!/\{id\}/.test(route.path)) continue
      const theirs = requestFor(route, foreign)
      const { status } = await api.call(theirs.method, theirs.path, { ...rest, token: own.token })
      expect(status === 404 || status === 403, `${role}: ${name} of others gave ${status}`)
    }
  }
  t.diagnostic(`${assertions} assertions`)
  assert.ok(assertions >= 400, `${assertions} assertions`)
})

test('requests of one project cannot be repeated by another', async (t) => {
  const api = await openApi(t)
  const things = await createFixtures(api, 'a')
  const token = await api.token('admin', 'b')
  const good: string[] = []
  for (const route of api.scheduler.routes()) {
    if (route.permission === 'public') continue
    const { method, path, ...rest } = requestFor(route, things)
    const headers = { ...rest.headers, 'punctual-project': 'a' }
    const { status } = await api.call(method, path, { ...rest, token, headers })
    if (status < 300) good.push(`${method} ${path}`)
  }
  assert.deepEqual(good, [])
})
