import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WirePage } from '../../src/core/wire/views.ts'
import type { WireJob } from '../../src/core/job/job-views.ts'
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
} from './refusals.ts'

const NO_NAMES = [
  '',
  ' ',
  '.',
  '..',
  '-a',
  '_a',
  'a b',
  'a/b',
  'a\\b',
  '~',
  '/etc/passwd',
  '../x',
  'a\nb',
  'a\r',
  'a\tb',
  '\u001b[31mred',
  '\u202eevil',
  'a\u200bb',
  'e\u0301',
  'é',
  'Ａ',
  '🐙',
  '\u0301'.repeat(50),
  "a'; DROP TABLE run;--",
  'a"b',
  'a%',
  'a*',
  '$(id)',
  '{{x}}',
  '<b>',
  'a:b',
  'a'.repeat(129),
  'x'.repeat(65_536),
]
const shown = (name: string) => JSON.stringify(name).slice(0, 40)
const hello = {
  name: 'w',
  queues: ['q'],
  labels: {},
  executors: ['shell'],
  slots: 1,
  registration: 1,
  held: [],
  forsaken: [],
}

assertRefused(
  'names that are more than letters, digits and . _ -',
  NO_NAMES.flatMap((name): Refusal[] => [
    [`a job called ${shown(name)}`, submitRequest({ job: name }), 'invalid_field', 'job'],
    [`a queue called ${shown(name)}`, submitRequest({ queue: name }), 'invalid_field', 'queue'],
    [`a function called ${shown(name)}`, submitRequest({ task: name }), 'invalid_field', 'task'],
    [
      `a tag called ${shown(name)}`,
      submitRequest({ tags: { [name]: 'x' } }),
      'invalid_field',
      'tags',
    ],
    [
      `a label called ${shown(name)}`,
      submitRequest({ runs_on: { labels: { [name]: 'x' } } }),
      'invalid_field',
      'runs_on.labels',
    ],
    [
      `a token called ${shown(name)}`,
      postRequest('/v1/tokens', { name, role: 'viewer' }),
      'invalid_field',
      'name',
    ],
    [
      `a worker called ${shown(name)}`,
      postRequest('/v1/workers', { ...hello, name }),
      'invalid_field',
      'name',
    ],
  ]),
)

assertRefused('NUL and half pairs, wherever they stand', [
  ...['job', 'queue', 'dedupe_key', 'idempotency_key', 'run', 'input'].flatMap(
    (field): Refusal[] => [
      [
        `NUL in ${field}`,
        postRequest('/v1/runs', `{"${field}":"a\\u0000"}`),
        'invalid_field',
        field,
      ],
      [
        `half a pair in ${field}`,
        postRequest('/v1/runs', `{"${field}":"a\\ud83d"}`),
        'invalid_field',
        field,
      ],
    ],
  ),
  ['NUL in a tag', submitRequest({ tags: { a: '\0' } }), 'invalid_field', 'tags.a'],
  [
    'NUL in the reason of a pause',
    postRequest('/v1/jobs/known/pause', { reason: '\0' }),
    'invalid_field',
    'reason',
  ],
  [
    'NUL under a name of 60 KB',
    submitRequest({ input: { ['x'.repeat(60_000)]: '\0' } }),
    'invalid_field',
    `input.${'x'.repeat(294)}…`,
  ],
  [
    'a field of 60 KB',
    submitRequest({ ['x'.repeat(60_000)]: 1 }),
    'unknown_field',
    `${'x'.repeat(64)}…`,
  ],
  [
    'a variable of 60 KB',
    submitRequest({ run: 'a', env: { ['='.repeat(60_000)]: '' } }),
    'invalid_field',
    `env.${'='.repeat(296)}…`,
  ],
])

const del = (path: string): RawRequest => ({ method: 'DELETE', path })

assertRefused('paths that lead elsewhere', [
  ['up', getRequest('/v1/../etc/passwd'), 'not_found'],
  ['up, escaped', getRequest('/v1/%2e%2e/etc/passwd'), 'not_found'],
  ['up from the page', getRequest('/ui/../../package.json'), 'not_found'],
  ['up from the page, escaped', getRequest('/ui/..%2f..%2fpackage.json'), 'not_found'],
  ['two slashes', getRequest('//v1/runs'), 'not_found'],
  ['a backslash', getRequest('/v1\\runs'), 'not_found'],
  ['a fragment', getRequest('/v1/runs#x'), 'unknown_field', 'x'],
  ['a bad escape', getRequest('/v1/jobs/%zz'), 'invalid_request'],
  ['no UTF-8', getRequest('/v1/jobs/%ff'), 'invalid_request'],
  ['half a pair', getRequest('/v1/jobs/%ed%a0%80'), 'invalid_request'],
  ...['..%2f..%2fx', '..%252fx', '%00', 'a%00', '~', 'a%5cb', '%2fetc', '%0d%0aX: y', ''].flatMap(
    (part): Refusal[] => [
      [
        `a job at ${part}`,
        putRequest(`/v1/jobs/${part.replace(' ', '%20')}`, { run: 'a' }),
        'invalid_field',
        'name',
      ],
      [`a run at ${part}`, getRequest(`/v1/runs/${part.replace(' ', '%20')}`), 'invalid_id', 'id'],
      [`no job at ${part}`, del(`/v1/jobs/${part.replace(' ', '%20')}`), 'invalid_field', 'name'],
      [`no token at ${part}`, del(`/v1/tokens/${part.replace(' ', '%20')}`), 'token_not_found'],
    ],
  ),
  ['a log elsewhere', getRequest('/v1/runs/..%2f..%2fetc%2fpasswd/logs/raw'), 'invalid_id', 'id'],
  [
    'a project elsewhere',
    getRequest('/v1/runs', { 'punctual-project': '../x' }),
    'invalid_request',
    'Punctual-Project',
  ],
])

/** Texts that have broken databases, terminals and pages. */
const TEXTS = [
  "Robert'); DROP TABLE run;--",
  '" OR 1=1 --',
  "\\'; $$ $1 ?1 :a @b %s %n {0}",
  '$.path[*] ->> #> || _ %',
  '\u202eright to left\u202c',
  'zero\u200bwidth\u200d\ufeff',
  `combining${'\u0301'.repeat(40)}`,
  'NFC é and NFD e\u0301',
  'line\nbreak\r\nand \u2028 more',
  '\u001b[2J\u001b]0;title\u0007',
  '<script>alert(1)</script>&amp;',
  '🐙👨‍👩‍👧‍👦\u{10ffff}',
  ' leading and trailing ',
]

test('free text comes back byte for byte', async (t) => {
  const api = await openApi(t)
  for (const text of TEXTS) {
    const made = { job: 'a', tags: { note: text }, input: { [text]: [text] }, dedupe_key: text }
    const sent = await api.call('POST', '/v1/runs', { body: { ...made, idempotency_key: text } })
    assert.equal(sent.status, 201, text)
    const again = await api.call('POST', '/v1/runs', { body: { ...made, idempotency_key: text } })
    assert.deepEqual(again.body, { id: sent.body['id'], created: false }, text)
    const { body } = await api.call<WireRun>('GET', `/v1/runs/${String(sent.body['id'])}`)
    assert.deepEqual([body.tags, body.input], [made.tags, made.input])

    const definition = { run: text, title: text, description: text, env: { A: text }, stdin: text }
    const job = await api.call<WireJob>('PUT', '/v1/jobs/free', { body: definition })
    assert.deepEqual(job.body.definition, definition)
    const paused = await api.call<WireJob>('POST', '/v1/jobs/free/pause', {
      body: { reason: text },
    })
    assert.equal(paused.body.paused?.reason, text)
  }
  const { body } = await api.call<WirePage<WireRun>>('GET', '/v1/runs?limit=500')
  assert.equal(body.data.length, TEXTS.length)
})

test('two encodings of one letter are two keys: names are compared as sent', async (t) => {
  const api = await openApi(t)
  const ids = new Set<unknown>()
  for (const key of ['caf\u00e9', 'cafe\u0301', 'CAF\u00c9', 'caf\u00e9 ']) {
    const { body } = await api.call('POST', '/v1/runs', { body: { job: 'a', dedupe_key: key } })
    ids.add(body['id'])
  }
  assert.equal(ids.size, 4)
})
