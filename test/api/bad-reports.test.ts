import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ERRORS, type ErrorCode } from '../../src/core/errors.ts'
import { LIMITS } from '../../src/core/limits.ts'
import type { LeasedAttempt } from '../../src/core/wire/protocol.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import type { WireExchangeAnswer, WireWelcome } from '../../src/core/wire/worker.ts'
import { type OpenApi, openApi } from './open-api.ts'

// False reports in the worker protocol: none changes a run, and the worker that reports truthfully continues
// unaffected.

const HELLO = {
  name: 'w',
  queues: ['default'],
  labels: {},
  executors: ['handler:a'],
  slots: 2,
  registration: 1,
  held: [],
  forsaken: [],
}

interface Setup {
  readonly api: OpenApi
  /** Sessions of the honest worker, of another worker of its project, and of one of another project. */
  readonly ownSession: string
  readonly other: string
  readonly foreign: string
  readonly foreignToken: string
  /** The run that the honest worker holds. */
  readonly held: LeasedAttempt
}

async function open(t: TestContext): Promise<Setup> {
  const api = await openApi(t)
  const register = async (token?: string, body: object = HELLO) => {
    const options = { body, ...(token === undefined ? {} : { token }) }
    return (await api.call<WireWelcome>('POST', '/v1/workers', options)).body.session
  }
  const ownSession = await register()
  const other = await register()
  const foreignToken = await api.token('worker', 'b')
  const foreign = await register(foreignToken)
  await api.call('POST', '/v1/runs', { body: { job: 'a' } })
  const { body } = await exchange(api, ownSession, { number: 1, free: 1 })
  const [granted] = (body as WireExchangeAnswer).runs
  assert.ok(granted)
  return {
    api,
    ownSession,
    other,
    foreign,
    foreignToken,
    held: { run: granted.run, fence: granted.fence },
  }
}

const MESSAGE = { registration: 1, number: 1, answered: 0, done: [], free: 0, wait_ms: 0 }

function exchange({ call }: OpenApi, session: string, change: object, token?: string) {
  const options = { body: { ...MESSAGE, ...change }, ...(token === undefined ? {} : { token }) }
  return call<unknown>('POST', `/v1/workers/${session}/exchange`, options)
}

function heartbeat({ call }: OpenApi, session: string, change: object) {
  const body = { registration: 1, answered: 1, held: [], ...change }
  return call<unknown>('POST', `/v1/workers/${session}/heartbeat`, { body })
}

type Say = (setup: Setup) => Promise<{ status: number; body: unknown }>
type Lie = [why: string, say: Say, code: ErrorCode, field?: string]

const done = (held: LeasedAttempt, change: object = {}) => [
  { ...held, outcome: 'succeeded', ...change },
]
const printed = (setup: Setup, change: object, session = setup.ownSession) =>
  setup.api.call('POST', `/v1/workers/${session}/logs`, {
    body: {
      registration: 1,
      chunks: [{ ...setup.held, chunk: 0, entries: [[0, 1, 'x']], ...change }],
    },
  })

const lies: Lie[] = [
  ['an invalid session', ({ api }) => exchange(api, 'ses_00000000001', {}), 'session_unknown'],
  ['a run for a session', ({ api, held }) => exchange(api, held.run, {}), 'invalid_id', 'session'],
  [
    'another project’s session',
    ({ api, foreign }) => exchange(api, foreign, {}),
    'session_unknown',
  ],
  [
    'our session, from another project',
    ({ api, ownSession, foreignToken, held }) =>
      exchange(api, ownSession, { number: 2, done: done(held) }, foreignToken),
    'session_unknown',
  ],
  [
    'our session, taken over from another project',
    ({ api, ownSession, foreignToken, held }) =>
      api.call('POST', '/v1/workers', {
        token: foreignToken,
        body: { ...HELLO, session: ownSession, registration: 2 ** 31 - 1, held: [held] },
      }),
    'session_unknown',
  ],
  [
    'a registration that was made before',
    ({ api, ownSession }) =>
      api.call('POST', '/v1/workers', { body: { ...HELLO, session: ownSession } }),
    'session_superseded',
  ],
  [
    'a registration to come',
    ({ api, ownSession }) => exchange(api, ownSession, { registration: 2, number: 2 }),
    'session_unknown',
  ],
  [
    'an exchange that was before',
    ({ api, ownSession }) => exchange(api, ownSession, { number: 0 }),
    'invalid_field',
    'number',
  ],
  [
    'an answer before its question',
    ({ api, ownSession }) => exchange(api, ownSession, { number: 2, answered: 2 }),
    'invalid_field',
    'answered',
  ],
  [
    'more room than there is',
    ({ api, ownSession }) => exchange(api, ownSession, { number: 2, free: 3 }),
    'invalid_field',
    'free',
  ],
  [
    'an answer number that was never given',
    ({ api, ownSession }) => heartbeat(api, ownSession, { answered: 2 ** 53 - 1 }),
    'invalid_field',
    'answered',
  ],
  [
    'a negative fence',
    ({ api, ownSession, held }) => heartbeat(api, ownSession, { held: [{ ...held, fence: -1 }] }),
    'invalid_field',
    'held.0.fence',
  ],
  [
    'a fence beyond 2^53',
    ({ api, ownSession, held }) =>
      heartbeat(api, ownSession, { held: [{ ...held, fence: 2 ** 53 }] }),
    'invalid_field',
    'held.0.fence',
  ],
  [
    'a heartbeat of more than any worker holds',
    ({ api, ownSession, held }) =>
      heartbeat(api, ownSession, { held: Array.from({ length: 10_001 }, () => held) }),
    'invalid_field',
    'held',
  ],
  [
    'a heartbeat of 1 MiB',
    ({ api, ownSession }) => heartbeat(api, ownSession, { held: ['x'.repeat(2 ** 20)] }),
    'body_too_large',
  ],
  [
    'a time of its own',
    ({ api, ownSession, held }) =>
      exchange(api, ownSession, { number: 2, done: done(held, { finished_at: 0 }) }),
    'unknown_field',
    'done.0.finished_at',
  ],
  [
    'an end only the server knows',
    ({ api, ownSession, held }) =>
      exchange(api, ownSession, { number: 2, done: done(held, { outcome: 'lost' }) }),
    'invalid_field',
    'done.0.outcome',
  ],
  [
    'a result over 8 MiB',
    ({ api, ownSession, held }) =>
      exchange(api, ownSession, {
        number: 2,
        done: done(held, { result: `"${'x'.repeat(LIMITS.resultBytes)}"` }),
      }),
    'invalid_field',
    'done.0.result',
  ],
  [
    'more chunks than can be counted',
    ({ api, ownSession, held }) =>
      exchange(api, ownSession, {
        number: 2,
        done: done(held, { process: { output: { chunks: 2 ** 31, bytes: 1 } } }),
      }),
    'invalid_field',
    'done.0.process.output.chunks',
  ],
  [
    'output before it began',
    (setup) => printed(setup, { entries: [[-1, 1, 'x']] }),
    'invalid_field',
    'chunks.0.entries.0',
  ],
  [
    'output of another age',
    (setup) => printed(setup, { entries: [[2 ** 53 - 1, 1, 'x']] }),
    'invalid_field',
    'chunks.0.entries.0',
  ],
  [
    'output of a fourth stream',
    (setup) => printed(setup, { entries: [[0, 3, 'x']] }),
    'invalid_field',
    'chunks.0.entries.0',
  ],
  ['a negative chunk', (setup) => printed(setup, { chunk: -1 }), 'invalid_field', 'chunks.0.chunk'],
  [
    'a chunk of 300 KiB',
    (setup) => printed(setup, { entries: [[0, 1, 'x'.repeat(300_000)]] }),
    'invalid_field',
    'chunks.0.entries',
  ],
]

test('false reports are refused, and correct ones are still accepted afterwards', async (t) => {
  const setup = await open(t)
  const { api, ownSession, held } = setup
  const before = (await api.call('GET', `/v1/runs/${held.run}`)).body
  for (const [why, say, code, field] of lies) {
    await t.test(why, async () => {
      const { status, body } = await say(setup)
      const problem = body as Record<string, unknown>
      assert.deepEqual(
        [status, problem['code'], problem['field']],
        [ERRORS[code][0], code, field],
        JSON.stringify(body),
      )
      assert.deepEqual((await api.call('GET', `/v1/runs/${held.run}`)).body, before)
    })
  }
  const beat = await heartbeat(api, ownSession, { held: [held] })
  assert.deepEqual(beat.body, { lost: [], cancels: [] })
  const end = await exchange(api, ownSession, { number: 2, answered: 1, done: done(held) })
  assert.deepEqual((end.body as WireExchangeAnswer).verdicts, ['accepted'])
  const { body } = await api.call<WireRun>('GET', `/v1/runs/${held.run}`)
  assert.equal(body.state, 'succeeded')
})

test('reports about runs of other workers are stale, even with the right fence', async (t) => {
  const { api, ownSession, other, foreign, foreignToken, held } = await open(t)
  const stale: [why: string, session: string, token: string | undefined, attempt: LeasedAttempt][] =
    [
      ['a run that never existed', other, undefined, { run: 'run_00000000001', fence: 1 }],
      ['a fence that is wrong', ownSession, undefined, { ...held, fence: held.fence + 1 }],
      ['another worker’s run', other, undefined, held],
      ['another project’s run', foreign, foreignToken, held],
    ]
  for (const [index, [why, session, token, attempt]] of stale.entries()) {
    const message = { number: index + 2, done: done(attempt) }
    const { body } = await exchange(api, session, message, token)
    assert.deepEqual((body as WireExchangeAnswer).verdicts, ['stale'], why)
    const run = await api.call<WireRun>('GET', `/v1/runs/${held.run}`)
    assert.equal(run.body.state, 'running', why)
  }
  const chunks = [{ ...held, chunk: 0, entries: [[0, 1, 'forged\n']] }]
  const log = await api.call('POST', `/v1/workers/${other}/logs`, {
    body: { registration: 1, chunks },
  })
  assert.deepEqual(log.body, { stored: [null] })
  const beat = await heartbeat(api, other, { answered: 0, held: [held] })
  assert.deepEqual(beat.body, { lost: [held.run], cancels: [] })
  const left = await api.call('POST', `/v1/workers/${other}/leave`, { body: { registration: 1 } })
  assert.equal(left.status, 204)
  const end = await exchange(api, ownSession, { number: 9, answered: 1, done: done(held) })
  assert.deepEqual((end.body as WireExchangeAnswer).verdicts, ['accepted'])
  const again = await exchange(api, ownSession, { number: 10, answered: 9, done: done(held) })
  assert.deepEqual((again.body as WireExchangeAnswer).verdicts, ['accepted'], 'a repeat is no lie')
})

test('every kind of text in a report is stored and none is executed', async (t) => {
  const { api, ownSession, held } = await open(t)
  const message = '\'); DROP TABLE run;-- \u202e\u001b[2J <script>\n{"state":"succeeded"}'
  const result = JSON.stringify({ __proto__: null, constructor: 1, text: '\ud800 \0 é' })
  const failed = done(held, {
    outcome: 'failed',
    cause: 'error',
    message,
    result,
    retriable: false,
  })
  const end = await exchange(api, ownSession, { number: 2, answered: 1, done: failed })
  assert.deepEqual((end.body as WireExchangeAnswer).verdicts, ['accepted'])
  const { body } = await api.call<WireRun>('GET', `/v1/runs/${held.run}`)
  assert.deepEqual([body.state, body.message], ['failed', message])
})

for (const result of ['fine!', '', '{"half":', '['.repeat(30_000) + ']'.repeat(30_000)]) {
  test(`a result such as ${result.slice(0, 10) || 'nothing'} hides no other run`, async (t) => {
    const { api, ownSession, held } = await open(t)
    await exchange(api, ownSession, { number: 2, answered: 1, done: done(held, { result }) })
    const { body } = await api.call<WireRun>('GET', `/v1/runs/${held.run}`)
    assert.deepEqual([body.state, body.result], ['succeeded', result])
    assert.equal((await api.call('GET', '/v1/runs')).status, 200)
  })
}
