import { LIMITS } from '../../src/core/limits.ts'
import { batch, post, put, type Refusal, refuses, submit, times } from './refusals.ts'

// What `src/server/api/bad-json.test.ts` asks of one route is asked here of every kind of route, with
// a database behind it.

const ROUTES: readonly [name: string, send: (body: unknown, headers?: object) => Refusal[1]][] = [
  ['a submission', (body, headers) => post('/v1/runs', body, headers)],
  ['a batch', (body, headers) => post('/v1/runs:batch', body, headers)],
  ['a job', (body, headers) => put('/v1/jobs/new', body, headers)],
  ['a token', (body, headers) => post('/v1/tokens', body, headers)],
  ['a worker', (body, headers) => post('/v1/workers', body, headers)],
]

const ofEach = (
  rows: (name: string, send: (typeof ROUTES)[number][1]) => readonly Refusal[],
): Refusal[] => ROUTES.flatMap(([name, send]) => rows(name, send))

refuses(
  'bodies that are not JSON, or not said to be',
  ofEach((name, send) => [
    [`${name}: nothing`, send(''), 'invalid_json'],
    [`${name}: half`, send('{"name":'), 'invalid_json'],
    [`${name}: more than one value`, send('{} {}'), 'invalid_json'],
    [`${name}: a byte order mark`, send('\ufeff{}'), 'invalid_json'],
    [`${name}: no UTF-8`, send(Buffer.from([0x7b, 0xff, 0x7d])), 'invalid_json'],
    [`${name}: text`, send('{}', { 'content-type': 'text/plain' }), 'unsupported_media_type'],
    [`${name}: gzip`, send('{}', { 'content-encoding': 'gzip' }), 'unsupported_media_type'],
    [`${name}: a list`, send([]), 'invalid_field'],
    [`${name}: null`, send('null'), 'invalid_field'],
  ]),
)

refuses(
  'keys that reach for prototypes, keys said twice, depths',
  ofEach((name, send) => [
    [`${name}: __proto__`, send('{"__proto__":{"polluted":1}}'), 'invalid_json'],
    [
      `${name}: constructor`,
      send('{"env":{"constructor":{"prototype":{"polluted":1}}}}'),
      'invalid_json',
    ],
    [`${name}: a key said twice`, send('{"name":"a","name":"b"}'), 'invalid_json'],
    [`${name}: 1,000,000 levels`, send('['.repeat(1_000_000)), 'invalid_json'],
    // The steps of a job have names, and may be 100,000: what else it says is looked at one by one.
    [
      `${name}: 60,000 keys`,
      send(`{${times(60_000, (key) => `"k${key}":1`).join(',')}}`),
      ...(name === 'a job' ? (['unknown_field', 'k0'] as const) : (['invalid_json'] as const)),
    ],
    [`${name}: NUL in a key nobody knows`, send('{"\\u0000":1}'), 'invalid_field'],
  ]),
)

const tooMuch = 'x'.repeat(LIMITS.bodyBytes)
const far = { 'content-length': String(LIMITS.batchBodyBytes + 1) }

refuses('bodies that are too large', [
  ['a run', submit({ input: 'x'.repeat(LIMITS.largeBodyBytes) }), 'body_too_large'],
  ['a job', put('/v1/jobs/new', { script: 'x'.repeat(LIMITS.largeBodyBytes) }), 'body_too_large'],
  ['a worker', post('/v1/workers', { name: tooMuch }), 'body_too_large'],
  [
    'a heartbeat',
    post('/v1/workers/ses_00000000001/heartbeat', { held: [tooMuch] }),
    'body_too_large',
  ],
  [
    'what a run printed',
    post('/v1/workers/ses_00000000001/logs', 'x'.repeat(LIMITS.logBodyBytes + 1)),
    'body_too_large',
  ],
  ['a batch that says how much it is', post('/v1/runs:batch', '{}', far), 'body_too_large'],
  [
    'an input in a batch, where bodies may be larger',
    batch({ job: 'a' }, { job: 'a', input: 'x'.repeat(LIMITS.inputBytes) }),
    'invalid_field',
    'runs.1.input',
  ],
])
