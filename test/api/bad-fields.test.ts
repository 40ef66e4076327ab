import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { openApi } from './open-api.ts'
import {
  getRequest,
  postRequest,
  putRequest,
  type RawRequest,
  type Refusal,
  assertRefused,
  submitRequest,
  times,
} from './refusals.ts'

const patch = (path: string, body: unknown): RawRequest => ({ method: 'PATCH', path, body })

/** Database columns, and field names that other systems once accepted. */
const OURS = [
  'id',
  'run_id',
  'project',
  'project_id',
  'job_id',
  'lane_id',
  'lane',
  'state',
  'status',
  'attempt',
  'lost',
  'fence',
  'session',
  'node',
  'rank',
  'pos',
  'claim_no',
  'due_at',
  'policy',
  'created_at',
  'created_by',
  'started_at',
  'finished_at',
  'retry_of',
  'minted_by',
  'version',
  'cancelling',
  'cause',
  'message',
  'worker',
  'result',
  'process',
  'gates',
  'hash',
  'ending',
  'uid',
  'gid',
  'user',
  'tenant',
  'actor',
  'toString',
  'hasOwnProperty',
]

assertRefused('unknown fields: what is the server’s own cannot be set by anyone', [
  ...OURS.flatMap((name): Refusal[] => [
    [`${name} of a run`, submitRequest({ [name]: 1 }), 'unknown_field', name],
    [
      `${name} of a job`,
      putRequest('/v1/jobs/new', { run: 'a', [name]: 1 }),
      'unknown_field',
      name,
    ],
    [`${name} of a queue`, patch('/v1/queues/q', { [name]: 1 }), 'unknown_field', name],
    [
      `${name} of a run of a job`,
      postRequest('/v1/jobs/known/runs', { [name]: 1 }),
      'unknown_field',
      name,
    ],
  ]),
  [
    'an environment for a run of a job',
    postRequest('/v1/jobs/known/runs', { env: {} }),
    'unknown_field',
    'env',
  ],
  [
    'a digest of a token',
    postRequest('/v1/tokens', { name: 'x', role: 'admin', hash: 'h' }),
    'unknown_field',
    'hash',
  ],
])

const not = (field: string, values: readonly unknown[]): Refusal[] =>
  values.map((value) => [
    `${field}: ${JSON.stringify(value)}`,
    submitRequest({ [field]: value }),
    'invalid_field',
    field,
  ])
const raw = (field: string, numbers: readonly string[]): Refusal[] =>
  numbers.map((number) => [
    `${field}: ${number}`,
    postRequest('/v1/runs', `{"job":"a","${field}":${number}}`),
    'invalid_field',
    field,
  ])
const HUGE = ['1e309', '2147483648', '9007199254740993', '9223372036854775808', '1e400000']

assertRefused('numbers: in range, whole, and never made from something else', [
  ...not('priority', [-11, 11, 0.5, '12', '', true, null, [1], {}]),
  ...raw('priority', HUGE),
  ...not('weight', [-1, 0, 1.5, 1_001, '12']),
  ...raw('weight', [...HUGE, '-0']),
  ...['NaN', 'Infinity', '-Infinity', '0x10', '1_000', '+1', '.5', '01'].map((text): Refusal => [
    `priority: ${text}`,
    postRequest('/v1/runs', `{"job":"a","priority":${text}}`),
    'invalid_json',
  ]),
  [
    '1e309 in an input',
    postRequest('/v1/runs', '{"job":"a","input":[1e309]}'),
    'invalid_field',
    'input',
  ],
  ['-1 retries', submitRequest({ retry: { max: -1 } }), 'invalid_field', 'retry.max'],
  ['1.5 retries', submitRequest({ retry: { max: 1.5 } }), 'invalid_field', 'retry.max'],
  [
    '2^31 places',
    submitRequest({ concurrency: [{ key: 'k', limit: 2 ** 31 }] }),
    'invalid_field',
    'concurrency.0.limit',
  ],
])

assertRefused('what contradicts itself is not settled by chance', [
  [
    'one gate of two sizes',
    submitRequest({
      concurrency: [
        { key: 'k', limit: 1 },
        { key: 'k', limit: 2 },
      ],
    }),
    'invalid_field',
    'concurrency.1.key',
  ],
  [
    'a delay beyond the longest',
    submitRequest({ retry: { delay: '10m', max_delay: '1s' } }),
    'invalid_field',
    'retry.delay',
  ],
  [
    'a queue that ends every attempt at once',
    patch('/v1/queues/q', { max_timeout: '0s' }),
    'invalid_field',
    'max_timeout',
  ],
  [
    'the same by default',
    patch('/v1/queues/q', { default_timeout: '0.4ms' }),
    'invalid_field',
    'default_timeout',
  ],
  [
    'If-Match that is no version',
    putRequest('/v1/jobs/known', { run: 'a' }, { 'if-match': '3' }),
    'invalid_request',
    'If-Match',
  ],
  [
    'an invalid If-Match together with an If-None-Match',
    putRequest('/v1/jobs/known', { run: 'a' }, { 'if-match': '', 'if-none-match': '*' }),
    'invalid_request',
    'If-Match',
  ],
  [
    'If-None-Match that is no star',
    putRequest('/v1/jobs/known', { run: 'a' }, { 'if-none-match': '"3"' }),
    'invalid_request',
    'If-None-Match',
  ],
])

const TIMES = [
  '',
  'now',
  '2026-01-31',
  '2026-01-31T09:00:00',
  '1769850000',
  '2026-02-30T00:00:00Z',
  '2027-02-29T00:00:00Z',
  '2026-06-31T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-10T00:00:00Z',
  '2026-01-00T00:00:00Z',
  '2016-12-31T23:59:60Z',
  '2026-01-31T24:00:00Z',
  '2026-01-31T09:60:00Z',
  '+275761-01-01T00:00:00Z',
  '275761-01-01T00:00:00Z',
  '-000001-01-01T00:00:00Z',
  '2026-01-31T09:00:00+24:00',
  '2026-01-31T09:00:00 UTC',
  '٢٠٢٦-01-31T09:00:00Z',
]

assertRefused('times that no calendar has, or that are a guess', [
  ...not('run_at', [...TIMES, 0, 1e18, null, {}]),
  ...TIMES.map((time): Refusal => [
    `a token until "${time}"`,
    postRequest('/v1/tokens', { name: 'x', role: 'viewer', expires_at: time }),
    'invalid_field',
    'expires_at',
  ]),
  [
    'a list since 30 February',
    getRequest('/v1/runs?q=since:2026-02-30T00:00:00Z'),
    'invalid_field',
    'q',
  ],
])

const DURATIONS = [
  '',
  '5',
  '-5s',
  '1y',
  '5 m',
  '1e9s',
  'NaNs',
  '99999999999w',
  '36600d1ms',
  '0s',
  '0.4ms',
]

assertRefused('durations without a unit, of nothing, or of more than a century', [
  ...not('timeout', [...DURATIONS, 5, null]),
  ...DURATIONS.slice(0, 9).map((text): Refusal => [
    `a retry after "${text}"`,
    submitRequest({ retry: { delay: text } }),
    'invalid_field',
    'retry.delay',
  ]),
  [
    'a grace of an hour',
    submitRequest({ run: 'a', kill_grace: '1h' }),
    'invalid_field',
    'kill_grace',
  ],
])

const kept: [why: string, run: object, state: string, due: string | null][] = [
  ['the year 0 is past, and the past is now', { run_at: '0000-01-01T00:00:00Z' }, 'ready', null],
  ['1969 is past too', { run_at: '1969-12-31T23:59:59.999Z' }, 'ready', null],
  [
    'a leap day is a day',
    { run_at: '2096-02-29T00:00:00Z' },
    'scheduled',
    '2096-02-29T00:00:00.000Z',
  ],
  ['beyond any timer', { run_at: '9999-12-31T23:59:59Z' }, 'scheduled', '9999-12-31T23:59:59.000Z'],
  [
    'a zone is minded',
    { run_at: '2096-01-01T00:30:00+01:00' },
    'scheduled',
    '2095-12-31T23:30:00.000Z',
  ],
  ['a timeout of a century', { timeout: '36600d' }, 'ready', null],
  ['a timeout just over what a timer holds', { timeout: '2147483648ms' }, 'ready', null],
]

test('times and timeouts beyond the range of timers are stored, and do not fire at once', async (t) => {
  const api = await openApi(t)
  const ids: string[] = []
  for (const [why, run] of kept) {
    const { status, body } = await api.call('POST', '/v1/runs', { body: { job: 'a', ...run } })
    assert.equal(status, 201, why)
    ids.push(String(body['id']))
  }
  for (const [index, [why, , state, due]] of kept.entries()) {
    const { body } = await api.call<WireRun>('GET', `/v1/runs/${ids[index]}`)
    assert.deepEqual([body.state, body.due_at], [state, due], why)
  }
})

test('a timeout beyond the range of timers does not end a process at once', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const run = { run: 'sleep 0.3; echo $?', timeout: '2147483648ms' }
  const { body } = await api.call('POST', '/v1/runs', { body: run })
  const ended = await api.call<WireRun>('GET', `/v1/runs/${String(body['id'])}?wait=60s`)
  assert.deepEqual([ended.body.state, ended.body.cause], ['succeeded', null])
})

test('a thousand refusals in a row leave no state', async (t) => {
  const api = await openApi(t)
  const sent = times(1_000, () => api.call('POST', '/v1/runs', { body: { job: 'a', uid: 0 } }))
  for (const { status } of await Promise.all(sent)) assert.equal(status, 422)
  assert.deepEqual((await api.call('GET', '/v1/runs')).body, { data: [], next_cursor: null })
})
