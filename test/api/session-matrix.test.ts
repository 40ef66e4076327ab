import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { WireNewToken } from '../../src/core/wire/views.ts'
import type { WireWelcome } from '../../src/core/wire/worker.ts'
import { type OpenApi, openApi } from './open-api.ts'
import {
  type SessionCaller,
  CALLERS,
  type Header,
  HEADERS,
  callerHeaders,
  makeCallers,
  projectOfCaller,
  refusalOf,
} from './session-callers.ts'

const HELLO = {
  name: 'w',
  queues: ['default'],
  labels: {},
  executors: ['shell'],
  slots: 1,
  registration: 1,
  held: [],
  forsaken: [],
}

const SESSIONS = ['version 2', 'version 1', 'of the installation', 'embedded', 'made up'] as const
const SECRETS = ['right', 'wrong', 'none'] as const
const ROUTES = ['register', 'exchange', 'heartbeat', 'logs', 'leave'] as const

type SessionKind = (typeof SESSIONS)[number]
type Secret = (typeof SECRETS)[number]
type Route = (typeof ROUTES)[number]

interface Combination {
  readonly session: SessionKind
  readonly caller: SessionCaller
  readonly secret: Secret
  readonly header: Header
  readonly route: Route
}

function* combinationsOf(session: SessionKind): Generator<Combination> {
  for (const caller of CALLERS) {
    for (const secret of SECRETS) {
      for (const header of HEADERS) {
        for (const route of ROUTES) yield { session, caller, secret, header, route }
      }
    }
  }
}

/** The caller that registered the sessions of each kind; undefined for sessions that no caller can use over HTTP. */
const OWNERS: Partial<Record<SessionKind, SessionCaller>> = {
  'version 2': 'its own token',
  'version 1': 'its own token',
  'of the installation': 'a token of the installation',
}

/** The rules, written by hand and independent of the code. */
function expected({ session, caller, secret, header, route }: Combination): string {
  const refusal = refusalOf(caller, header)
  if (refusal !== undefined) return refusal
  // All of these sessions were registered in `default`.
  const isElsewhere = projectOfCaller(caller) === null && header === 'shop'
  if (OWNERS[session] === undefined || isElsewhere) return 'session_unknown'
  const isProved = session === 'version 1' || secret === 'right'
  if (caller === OWNERS[session]) return isProved ? 'ok' : 'session_unknown'
  const mayTakeOver = session === 'version 2' && secret === 'right' && route === 'register'
  return caller === 'a token of the same identity' && mayTakeOver ? 'ok' : 'session_unknown'
}

interface Target {
  readonly id: string
  readonly secret: string | undefined
}

interface Environment {
  readonly api: OpenApi
  readonly tokens: ReadonlyMap<SessionCaller, string | null>
  /** A session that no request has used yet. */
  open(kind: SessionKind): Promise<Target>
}

async function setUp(t: TestContext): Promise<Environment> {
  const api = await openApi(t)
  const tokens = await makeCallers(api)
  const embedded = await api.scheduler
    .clientFor('default')
    .register({ ...HELLO, projects: [], protocol: [2] })
  return {
    api,
    tokens,
    async open(kind) {
      if (kind === 'embedded') return { id: embedded.session, secret: embedded.secret }
      const owner = OWNERS[kind]
      if (owner === undefined) return { id: 'ses_00000000001', secret: 'x' }
      const isEverywhere = kind === 'of the installation'
      const body = {
        ...HELLO,
        protocol: [kind === 'version 1' ? 1 : 2],
        ...(isEverywhere && { projects: [] }),
      }
      const token = tokens.get(owner) as string
      const welcome = await api.call<WireWelcome>('POST', '/v1/workers', { token, body })
      assert.equal(welcome.status, 201)
      return { id: welcome.body.session, secret: welcome.body.session_secret }
    },
  }
}

const BODIES: Readonly<Record<Exclude<Route, 'register'>, object>> = {
  exchange: { registration: 1, number: 1, answered: 0, done: [], free: 1, wait_ms: 0 },
  heartbeat: { registration: 1, answered: 0, held: [] },
  logs: {
    registration: 1,
    chunks: [{ run: 'run_00000000001', fence: 1, chunk: 0, entries: [[0, 1, 'x']] }],
  },
  leave: { registration: 1 },
}

async function ask(
  { api, tokens }: Environment,
  target: Target,
  { caller, secret, header, route }: Omit<Combination, 'session'>,
): Promise<string> {
  const presented = secret === 'right' ? (target.secret ?? 'none-there') : 'wrong'.repeat(9)
  const headers: Record<string, string> = {
    ...callerHeaders(header),
    ...(secret !== 'none' && { 'punctual-session-secret': presented }),
  }
  const options = { token: tokens.get(caller) ?? null, headers }
  const { status, body } =
    route === 'register'
      ? await api.call('POST', '/v1/workers', {
          ...options,
          body: { ...HELLO, session: target.id, registration: 2, protocol: [1, 2] },
        })
      : await api.call('POST', `/v1/workers/${target.id}/${route}`, {
          ...options,
          body: BODIES[route],
        })
  return status < 300 ? 'ok' : String(body['code'])
}

for (const session of SESSIONS) {
  // One server for all of them would start to refuse the many requests without a valid token.
  test(`a session ${session}: every token × secret × project × route is answered as the rules say`, async (t) => {
    const environment = await setUp(t)
    const owner = OWNERS[session]
    const violations: string[] = []
    let combinations = 0
    let target = await environment.open(session)
    /** After all the refusals, the session is unchanged. */
    const checkTarget = async (after: string) => {
      if (owner === undefined) return
      const beat = { caller: owner, secret: 'right', header: 'none', route: 'heartbeat' } as const
      const answer = await ask(environment, target, beat)
      if (answer !== 'ok') violations.push(`${after} was refused and still did harm: ${answer}`)
    }
    for (const combination of combinationsOf(session)) {
      const { caller, secret, header, route } = combination
      const what = `${session}, ${caller}, secret ${secret}, project ${header}, ${route}`
      const wanted = expected(combination)
      // An accepted request gets its own session, and so does the next combination.
      if (wanted === 'ok') {
        await checkTarget(`something before ${what}`)
        target = await environment.open(session)
      }
      const answer = await ask(environment, target, combination)
      combinations += 1
      if (answer !== wanted) violations.push(`${what}: ${answer} instead of ${wanted}`)
      if (answer === 'ok') target = await environment.open(session)
      else if (route === 'leave') await checkTarget(what)
    }
    assert.deepEqual(violations, [])
    const perSession = CALLERS.length * SECRETS.length * HEADERS.length * ROUTES.length
    assert.equal(combinations, perSession)
    t.diagnostic(`${combinations} combinations`)
  })
}

const REGISTERED = [undefined, [], ['default'], ['shop'], ['shop', 'default']] as const

test('every session × token × project × projects to serve is registered as the rules say', async (t) => {
  const api = await openApi(t)
  const tokens = await makeCallers(api)
  const violations: string[] = []
  let combinations = 0
  const register = async (caller: SessionCaller, header: Header, more: object, secret?: string) => {
    const { status, body } = await api.call<WireWelcome & { code?: string }>(
      'POST',
      '/v1/workers',
      {
        token: tokens.get(caller) ?? null,
        headers: { ...callerHeaders(header), ...(secret && { 'punctual-session-secret': secret }) },
        body: { ...HELLO, ...more },
      },
    )
    return { body, answer: status < 300 ? 'ok' : String(body.code) }
  }
  const projectsOf = (projects: readonly string[] | undefined) => (projects ? { projects } : {})
  /** A token of one project serves only that one, and names it or nothing. */
  const expectedOf = (caller: SessionCaller, header: Header, projects?: readonly string[]) => {
    const refusal = refusalOf(caller, header)
    const bound = projectOfCaller(caller)
    if (refusal !== undefined || bound === null || projects === undefined) return refusal ?? 'ok'
    return projects.length === 1 && projects[0] === bound ? 'ok' : 'forbidden'
  }
  for (const protocol of [[1], [1, 2]]) {
    for (const caller of CALLERS) {
      for (const header of HEADERS) {
        for (const projects of REGISTERED) {
          const what = `version ${protocol.at(-1)}, ${caller}, project ${header}, ${JSON.stringify(projects)}`
          const first = await register(caller, header, { protocol, ...projectsOf(projects) })
          const wanted = expectedOf(caller, header, projects)
          combinations += 1
          if (first.answer !== wanted) violations.push(`${what}: ${first.answer} for ${wanted}`)
          if (first.answer !== 'ok') continue
          const { session, session_secret } = first.body
          // The same session again, for other projects: never more than the token has.
          for (const [index, other] of REGISTERED.entries()) {
            const hello = { protocol, session, registration: index + 2, ...projectsOf(other) }
            const again = await register(caller, header, hello, session_secret)
            const then = expectedOf(caller, header, other)
            combinations += 1
            if (again.answer !== then) {
              violations.push(
                `${what}, again for ${JSON.stringify(other)}: ${again.answer} for ${then}`,
              )
            }
          }
        }
      }
    }
  }
  assert.deepEqual(violations, [])
  // Accepted callers register five times more. Six callers bound to a project: with or without the header, with
  // or without the list. Two unbound callers: with every header and every list.
  const first = 2 * CALLERS.length * HEADERS.length * REGISTERED.length
  const letIn = 2 * (6 * 2 * 2 + 2 * HEADERS.length * REGISTERED.length)
  assert.equal(combinations, first + letIn * REGISTERED.length)
  t.diagnostic(`${combinations} combinations`)
})

test('a token registers for no more projects than it has', async (t) => {
  const api = await openApi(t)
  const token = await api.token('worker', 'shop')
  for (const projects of [[], ['default'], ['shop', 'default']]) {
    const { body } = await api.call('POST', '/v1/workers', { token, body: { ...HELLO, projects } })
    assert.equal(body['code'], 'forbidden', JSON.stringify(projects))
  }
})

test('workers of the first version can be refused', async (t) => {
  const api = await openApi(t, { config: { minWorkerProtocol: 2 } })
  const register = (more: object) =>
    api.call('POST', '/v1/workers', { body: { ...HELLO, ...more } })
  assert.equal((await register({})).body['code'], 'protocol_unsupported')
  assert.equal((await register({ protocol: [1] })).body['code'], 'protocol_unsupported')
  assert.equal((await register({ protocol: [3] })).body['code'], 'protocol_unsupported')
  const { status, body } = await register({ protocol: [1, 2, 3] })
  assert.deepEqual([status, body['protocol']], [201, 2])
  assert.match(String(body['session_secret']), /^[\w-]{43}$/)
})

test('no list shows a session id, and the ids it shows are not sessions', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const { body } = await api.call<WireWelcome>('POST', '/v1/workers', { body: HELLO })
  const list = await api.call<{ data: { id: string }[] }>('GET', '/v1/workers')
  assert.equal(list.body.data.length, 2)
  assert.ok(!JSON.stringify(list.body).includes('ses_'))
  assert.ok(list.body.data.some(({ id }) => id === body.worker))
  for (const { id } of list.body.data) {
    const path = `/v1/workers/${id}/heartbeat`
    const answer = await api.call('POST', path, { body: BODIES.heartbeat })
    assert.equal(answer.body['code'], 'invalid_id')
    const disguised = `/v1/workers/${id.replace('wrk', 'ses')}/heartbeat`
    const stolen = await api.call('POST', disguised, { body: BODIES.heartbeat })
    assert.equal(stolen.body['code'], 'session_unknown')
  }
})

test('refusals reveal no counters', async (t) => {
  const api = await openApi(t)
  const { body } = await api.call<WireWelcome>('POST', '/v1/workers', { body: HELLO })
  const say = async (route: string, more: object) =>
    (await api.call('POST', `/v1/workers/${body.session}/${route}`, { body: more })).body['detail']
  const exchange = { ...BODIES.exchange, number: 7 }
  await say('exchange', exchange)
  const details = [
    await say('heartbeat', { registration: 1, answered: 1_000_000_000, held: [] }),
    await say('exchange', { ...exchange, number: 6 }),
    await say('exchange', { ...exchange, number: 8, free: 9 }),
    await say('heartbeat', { registration: 2, answered: 0, held: [] }),
  ]
  for (const detail of details) assert.doesNotMatch(String(detail), /\d/, String(detail))
})

test('a revoked token gets no answer to a waiting request, and loses its session', async (t) => {
  const api = await openApi(t)
  const made = await api.call<WireNewToken>('POST', '/v1/tokens', {
    body: { name: 'gone', role: 'worker' },
  })
  const { token, id } = made.body
  const { body: welcome } = await api.call<WireWelcome>('POST', '/v1/workers', {
    token,
    body: { ...HELLO, protocol: [2] },
  })
  const headers = { 'punctual-session-secret': welcome.session_secret as string }
  const waiting = api.call('POST', `/v1/workers/${welcome.session}/exchange`, {
    token,
    headers,
    body: { ...BODIES.exchange, wait_ms: 20_000 },
  })
  await api.call('DELETE', `/v1/tokens/${id}`)
  const run = await api.call<{ id: string }>('POST', '/v1/runs', { body: { run: 'true' } })
  assert.equal((await waiting).body['code'], 'unauthorized')
  await api.startWorker()
  const ended = await api.call('GET', `/v1/runs/${run.body.id}?wait=60s`)
  assert.deepEqual([ended.body['state'], ended.body['attempt']], ['succeeded', 1])
})
