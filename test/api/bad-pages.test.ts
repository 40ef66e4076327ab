import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WirePage } from '../../src/core/wire/views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { openApi } from './open-api.ts'
import { getRequest, type Refusal, assertRefused } from './refusals.ts'

const LISTS = ['/v1/runs', '/v1/jobs', '/v1/jobs/known/versions', '/v1/audit']
const LIMITS = ['-1', '0', '501', '1000000000', '1.5', '1e2', '0x10', ' 5', '', 'ten', '٣', '+5']
const forged = (text: string) => Buffer.from(text).toString('base64url')
const CURSORS = [
  'x',
  '1',
  "';DROP TABLE run;--",
  '../..',
  'a'.repeat(256),
  forged('1:'),
  forged('2:5'),
  forged('1:-5'),
  forged('1: 5'),
  forged('1:a\0'),
  forged('1:é'),
  forged("1:' OR 1=1"),
  `${forged('1:5')}A`,
]
/** Valid names, but not numbers as this server writes them. */
const NOT_NUMBERS = ['1:1e3', '1:0x10', '1:05', '1:9007199254740993', '1:1.5'].map(forged)
const cursorsOf = (path: string) => (path === '/v1/jobs' ? CURSORS : [...CURSORS, ...NOT_NUMBERS])

assertRefused(
  'pages: limits out of range, forged cursors, unknown orders',
  LISTS.flatMap((path): Refusal[] => [
    ...LIMITS.map((limit): Refusal => [
      `${path} by ${JSON.stringify(limit)}`,
      getRequest(`${path}?limit=${encodeURIComponent(limit)}`),
      'invalid_field',
      'limit',
    ]),
    ...cursorsOf(path).map((cursor): Refusal => [
      `${path} from ${cursor.slice(0, 30)}`,
      getRequest(`${path}?cursor=${encodeURIComponent(cursor)}`),
      'invalid_cursor',
      'cursor',
    ]),
    [`${path} sorted`, getRequest(`${path}?sort=id;drop`), 'unknown_field', 'sort'],
    [
      `${path} from the far end`,
      getRequest(`${path}?offset=1000000000000`),
      'unknown_field',
      'offset',
    ],
    [`${path} twice limited`, getRequest(`${path}?limit=1&limit=2`), 'invalid_field', 'limit'],
  ]),
)

const WORDS = [
  'x',
  ':',
  'job:',
  'job:,',
  'job:a,',
  '"',
  'job:"a',
  'colour:red',
  'state:asleep',
  'cause:bad luck',
  'since:soon',
  'since:5',
  'since:-5m',
  'until:2026-02-30T00:00:00Z',
  'tag:a',
  'tag.:x',
  'job.x:y',
  '__proto__:x',
  'constructor:x',
  'tag.__proto__:x',
  'state:constructor',
  'job:a\0',
  '\0',
  'job:a '.repeat(400),
]

assertRefused('filters: words that mean nothing are not guessed at', [
  ...WORDS.map((q): Refusal => [
    JSON.stringify(q).slice(0, 40),
    getRequest(`/v1/runs?q=${encodeURIComponent(q)}`),
    'invalid_field',
    'q',
  ]),
  ['two filters', getRequest('/v1/runs?q=job:a&q=job:b'), 'invalid_field', 'q'],
  ['a filter as an object', getRequest('/v1/runs?q[job]=a'), 'unknown_field', 'q[job]'],
  ['a state that is several', getRequest('/v1/runs?state=live'), 'invalid_field', 'state'],
  ['a wait without a unit', getRequest('/v1/runs/run_00000000001?wait=5'), 'invalid_field', 'wait'],
  [
    'a log from line -1',
    getRequest('/v1/runs/run_00000000001/logs?from_line=-1'),
    'invalid_field',
    'from_line',
  ],
  [
    'a log of no lines',
    getRequest('/v1/runs/run_00000000001/logs?limit=0'),
    'invalid_field',
    'limit',
  ],
  [
    'a log of attempt 0',
    getRequest('/v1/runs/run_00000000001/logs?attempt=0'),
    'invalid_field',
    'attempt',
  ],
  [
    'a log of 2^40 lines',
    getRequest('/v1/runs/run_00000000001/logs?tail=1099511627776'),
    'invalid_field',
    'tail',
  ],
])

test('only * is special in a filter: it is never read as SQL or a regular expression', async (t) => {
  const { call } = await openApi(t)
  for (const job of ['a_b', 'aXb', 'a.b', 'a-b', 'axxb']) {
    await call('POST', '/v1/runs', { body: { job, tags: { note: `100% of ${job}` } } })
  }
  const found = async (q: string) => {
    const path = `/v1/runs?q=${encodeURIComponent(q)}`
    const { body } = await call<WirePage<WireRun>>('GET', path)
    return body.data.map(({ job }) => job).toSorted()
  }
  const all = ['a-b', 'a.b', 'aXb', 'a_b', 'axxb']
  const table: [q: string, jobs: readonly string[]][] = [
    ['job:a_b', ['a_b']],
    ['job:a_b%', []],
    ['job:a_*', ['a_b']],
    ['job:a.b', ['a.b']],
    ['job:a.*', ['a.b']],
    ['job:%', []],
    ['job:a*b', all],
    ['job:(a+)+$', []],
    ["job:a'--", []],
    ['job:a?b', []],
    ['job:[a-z]*', []],
    ['tag.note:"100% of a_b"', ['a_b']],
    ['tag.note:"100_*"', []],
    ['tag.note:100%*', all],
  ]
  for (const [q, jobs] of table) assert.deepEqual(await found(q), jobs, q)
})

test('a filter designed to be slow is as fast as any other', async (t) => {
  const { call } = await openApi(t)
  const text = 'a'.repeat(255)
  const runs = Array.from({ length: 500 }, () => ({ job: 'a'.repeat(128), tags: { t: text } }))
  await call('POST', '/v1/runs:batch', { body: { runs } })
  const worst = [
    `tag.t:${'a*'.repeat(900)}b`,
    `job:${'*a'.repeat(900)}b`,
    `job:${'a,'.repeat(900)}b`,
  ]
  for (const q of worst) {
    const { status, body } = await call<WirePage<WireRun>>(
      'GET',
      `/v1/runs?q=${encodeURIComponent(q)}`,
    )
    assert.deepEqual([status, body.data], [200, []])
  }
})

test('a cursor only works within its project', async (t) => {
  const api = await openApi(t)
  for (let count = 0; count < 3; count += 1) {
    await api.call('POST', '/v1/runs', { body: { job: 'a', tags: { secret: 'yes' } } })
  }
  const first = await api.call<WirePage<WireRun>>('GET', '/v1/runs?limit=1')
  const token = await api.token('viewer', 'b')
  const path = `/v1/runs?cursor=${first.body.next_cursor}`
  assert.equal((await api.call<WirePage<WireRun>>('GET', path)).body.data.length, 2)
  const theirs = await api.call('GET', path, { token })
  assert.deepEqual([theirs.status, theirs.body], [200, { data: [], next_cursor: null }])
})
