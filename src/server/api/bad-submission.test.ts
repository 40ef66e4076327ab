import { LIMITS } from '../../core/limits.ts'
import {
  batchRequest,
  postRequest,
  rawRequest,
  testRefusals,
  submitRequest,
  type BadInput,
} from './testing/bad-input.ts'

const TOO_MANY_RUNS = `${'{"job":"a"},'.repeat(LIMITS.batchRuns)}{"job":"a"}`
const times = (count: number) => Array.from({ length: count }, (_, index) => index)
/** One row per value that a field must not have. */
const not = (field: string, values: readonly unknown[]): BadInput[] =>
  values.map((value) => [
    `${field}: ${JSON.stringify(value).slice(0, 40)}`,
    submitRequest({ [field]: value }),
    field,
  ])

testRefusals('missing_field', [
  ['a run without a job', rawRequest('{}'), 'job'],
  ['a batch without runs', postRequest('/v1/runs:batch', '{}'), 'runs'],
  ['a run of a batch without a job', batchRequest({ job: 'a' }, {}), 'runs.1.job'],
  [
    'a gate without its limit',
    submitRequest({ concurrency: [{ key: 'k' }] }),
    'concurrency.0.limit',
  ],
])

const SERVER_OWNED = [
  'id',
  'uid',
  'gid',
  'tenant',
  'project',
  'state',
  'attempt',
  'fence',
  'lane_id',
]

testRefusals('unknown_field', [
  ...SERVER_OWNED.map((name): BadInput => [
    `${name} is the server's`,
    submitRequest({ [name]: 1 }),
    name,
  ]),
  ['a policy field that does not exist', submitRequest({ retry: { maxx: 1 } }), 'retry.maxx'],
  [
    'an unknown field next to the runs',
    postRequest('/v1/runs:batch', '{"runs":[{"job":"a"}],"x":1}'),
    'x',
  ],
  ['a field of one run', batchRequest({ job: 'a' }, { job: 'a', uid: 0 }), 'runs.1.uid'],
])

testRefusals('invalid_field', [
  ['an empty batch', batchRequest(), 'runs'],
  ['a batch of 10,001', postRequest('/v1/runs:batch', `{"runs":[${TOO_MANY_RUNS}]}`), 'runs'],
  ['a run that is null', batchRequest(null), 'runs.0'],
  [
    'a bad run among good ones',
    batchRequest({ job: 'a' }, { job: 'a', weight: 0 }),
    'runs.1.weight',
  ],
])

testRefusals('invalid_field', [
  ...not('priority', [-11, 11, 1.5, 2 ** 31, 2 ** 53 + 2, 2 ** 63, '3', true, null, [], {}]),
  ...not('weight', [-1, 0, 1_001, '1']),
  ['priority: 1e309', rawRequest('{"job":"a","priority":1e309}'), 'priority'],
  ['input: 1e309', rawRequest('{"job":"a","input":{"x":[1e309]}}'), 'input'],
])

testRefusals('invalid_field', [
  ...not('job', [
    '',
    '.',
    '..',
    '../x',
    'a b',
    'a\nb',
    'é',
    '-a',
    'a/b',
    'a\\b',
    '~',
    '\u202ea',
    7,
  ]),
  ...not('job', ['a'.repeat(129), 'x'.repeat(65_536)]),
  ...not('queue', ['', '$(id)', "a'--", '\u001b[31m']),
  ...not('task', ['', 'handler:a', ':a', 'sh -c']),
  ...not('dedupe_key', ['', 'k'.repeat(256), 1]),
  ...not('idempotency_key', ['', 'k'.repeat(256), 1]),
  ...not('on_lost', ['ignore', true]),
  ...not('runs_on', ['gpu', ['gpu']]),
  [
    '33 labels',
    submitRequest({
      runs_on: { labels: Object.fromEntries(times(33).map((i) => [`l${i}`, 'x'])) },
    }),
    'runs_on.labels',
  ],
  ...not('tags', [[], times(2), { 'a b': 'x' }]),
  [
    'a label with a space',
    submitRequest({ runs_on: { labels: { gpu: 'a b' } } }),
    'runs_on.labels.gpu',
  ],
  [
    'a label that is not text',
    submitRequest({ runs_on: { labels: { gpu: 1 } } }),
    'runs_on.labels.gpu',
  ],
  ['a command that is not text', submitRequest({ run: 7 }), 'run'],
  ['arguments that are not a list', submitRequest({ argv: 'ls -l' }), 'argv'],
  ['an argument that is not text', submitRequest({ argv: ['ls', 1] }), 'argv.1'],
  ['a variable that is not text', submitRequest({ run: 'a', env: { A: 1 } }), 'env.A'],
  ['two things to start', submitRequest({ run: 'a', argv: ['b'] }), 'argv'],
  ['a process and a function', submitRequest({ run: 'a', task: 'b' }), 'task'],
  ['a shell alone', submitRequest({ shell: '/bin/sh' }), 'shell'],
  ['a tag that is not text', submitRequest({ tags: { region: 1 } }), 'tags.region'],
  [
    '33 tags',
    submitRequest({ tags: Object.fromEntries(times(33).map((i) => [`t${i}`, ''])) }),
    'tags',
  ],
])

testRefusals('invalid_field', [
  ...not('timeout', ['', '15', '-5s', '1y', '1e9s', '0s', '1000000w', '5 m', 900, null]),
  ['a delay without a unit', submitRequest({ retry: { delay: '10' } }), 'retry.delay'],
  [
    'a bad delay in a batch',
    batchRequest({ job: 'a', retry: { max_delay: 'x' } }),
    'runs.0.retry.max_delay',
  ],
  ['jitter above 1', submitRequest({ retry: { jitter: 1.01 } }), 'retry.jitter'],
  ['1,001 retries', submitRequest({ retry: { max: 1_001 } }), 'retry.max'],
  ['an unknown backoff', submitRequest({ retry: { backoff: 'random' } }), 'retry.backoff'],
  ['a retry of lost attempts', submitRequest({ retry: { on: ['lost'] } }), 'retry.on.0'],
  [
    'a gate without room',
    submitRequest({ concurrency: [{ key: 'k', limit: 0 }] }),
    'concurrency.0.limit',
  ],
  [
    'nine gates',
    submitRequest({ concurrency: times(9).map(() => ({ key: 'k', limit: 1 })) }),
    'concurrency',
  ],
])

testRefusals('invalid_field', [
  ...not('run_at', ['', 'tomorrow', '2026-01-31', '2026-01-31T09:00:00', '1769850000000']),
  ...not('run_at', ['2026-02-30T00:00:00Z', '2025-02-29T00:00:00Z', '2026-13-01T00:00:00Z']),
  ...not('run_at', ['2026-01-31T24:00:00Z', '2026-01-31T23:60:00Z', '2016-12-31T23:59:60Z']),
  ...not('run_at', [
    '2026-01-31T09:00:00+25:00',
    '+275761-01-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
  ]),
  ...not('run_at', [' 2026-01-31T09:00:00Z', '2026-01-31 09:00:00Z', 1_769_850_000_000, null]),
])

testRefusals('invalid_field', [
  ['an input over 8 MiB', submitRequest({ input: 'x'.repeat(LIMITS.inputBytes) }), 'input'],
  ['an input over 8 MiB in bytes', submitRequest({ input: '€'.repeat(2_800_000) }), 'input'],
  ['an input over 8 MiB in numbers', submitRequest({ input: { list: times(1_300_000) } }), 'input'],
  [
    'one such input in a batch',
    batchRequest({ job: 'a' }, { job: 'a', input: '€'.repeat(2_800_000) }),
    'runs.1.input',
  ],
])
