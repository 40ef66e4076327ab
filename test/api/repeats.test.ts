import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WirePage } from '../../src/core/wire/views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { openApi } from './open-api.ts'
import {
  batchRequest,
  postRequest,
  type Refusal,
  assertRefused,
  submitRequest,
  times,
} from './refusals.ts'

const KEYS = ['', ' ', 'a b', 'é', 'k'.repeat(250), 'k'.repeat(10_000), 'a\tb']

assertRefused('keys of repeats: a header of 1 to 249 visible letters, a field of 1 to 255', [
  ...KEYS.map((key): Refusal => [
    `the header ${JSON.stringify(key).slice(0, 20)}`,
    postRequest(
      '/v1/runs',
      { job: 'a' },
      { 'idempotency-key': Buffer.from(key).toString('latin1') },
    ),
    'invalid_request',
    'Idempotency-Key',
  ]),
  ['an empty key', submitRequest({ idempotency_key: '' }), 'invalid_field', 'idempotency_key'],
  [
    'a key of 10 KB',
    submitRequest({ idempotency_key: 'k'.repeat(10_000) }),
    'invalid_field',
    'idempotency_key',
  ],
  [
    'a key that is a number',
    submitRequest({ idempotency_key: 1 }),
    'invalid_field',
    'idempotency_key',
  ],
  [
    'another key of 10 KB',
    submitRequest({ dedupe_key: 'k'.repeat(10_000) }),
    'invalid_field',
    'dedupe_key',
  ],
  [
    'one of them in a batch',
    batchRequest({ job: 'a' }, { job: 'a', dedupe_key: '' }),
    'invalid_field',
    'runs.1.dedupe_key',
  ],
  [
    'a key here and a key there',
    postRequest('/v1/runs', { job: 'a', idempotency_key: 'k' }, { 'idempotency-key': 'k' }),
    'invalid_field',
    'idempotency_key',
  ],
])

for (const [name, keyed] of [
  ['the header', (key: string) => ({ headers: { 'idempotency-key': key } })],
  ['an idempotency key', (key: string) => ({ body: { job: 'a', idempotency_key: key } })],
  ['a dedupe key', (key: string) => ({ body: { job: 'a', dedupe_key: key } })],
] as const) {
  test(`${name}: a hundred at once are one run`, async (t) => {
    const { call } = await openApi(t)
    const sent = times(100, () =>
      call('POST', '/v1/runs', { body: { job: 'a' }, ...keyed('the-same') }),
    )
    const answers = await Promise.all(sent)
    const ids = new Set(answers.map(({ body }) => body['id']))
    assert.equal(ids.size, 1, [...ids].join(' '))
    assert.ok(answers.every(({ status }) => status === 200 || status === 201))
    assert.equal(answers.filter(({ status }) => status === 201).length, 1)
    const { body } = await call<WirePage<WireRun>>('GET', '/v1/runs?limit=500')
    assert.equal(body.data.length, 1)
  })
}

test('a key with another body is refused, and the first run stays unchanged', async (t) => {
  const { call } = await openApi(t)
  const first = { job: 'a', input: 1, idempotency_key: 'k' }
  const made = await call('POST', '/v1/runs', { body: first })
  const others = [
    { input: 2 },
    { job: 'b' },
    { priority: 1 },
    { tags: { a: 'b' } },
    { run: 'true' },
  ]
  for (const other of others) {
    const { status, body } = await call('POST', '/v1/runs', { body: { ...first, ...other } })
    assert.deepEqual([status, body['code']], [422, 'idempotency_mismatch'], JSON.stringify(other))
  }
  const again = await call('POST', '/v1/runs', { body: first })
  assert.deepEqual([again.status, again.body], [200, { id: made.body['id'], created: false }])
})

test('in a batch each run has its own verdict, and keys are independent', async (t) => {
  const { call } = await openApi(t)
  const run = (input: number) => ({ job: 'a', input, idempotency_key: 'k' })
  const { body } = await call<{
    runs: { id?: string; created?: boolean; error?: { code: string } }[]
  }>('POST', '/v1/runs:batch', { body: { runs: [run(1), run(1), run(2), { job: 'a' }] } })
  const [one, same, other, plain] = body.runs
  assert.deepEqual([one?.created, same?.created, plain?.created], [true, false, true])
  assert.equal(one?.id, same?.id)
  assert.equal(other?.error?.code, 'idempotency_mismatch')
})

test('the same key in two projects is two runs', async (t) => {
  const api = await openApi(t)
  const token = await api.token('operator', 'b')
  const body = { job: 'a', idempotency_key: 'k', dedupe_key: 'd' }
  const mine = await api.call('POST', '/v1/runs', { body })
  const theirs = await api.call('POST', '/v1/runs', { body, token })
  assert.deepEqual([mine.status, theirs.status], [201, 201])
  assert.notEqual(mine.body['id'], theirs.body['id'])
})
