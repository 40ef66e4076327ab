import { LIMITS } from '../../src/core/limits.ts'
import {
  batchRequest,
  postRequest,
  putRequest,
  type Refusal,
  assertRefused,
  submitRequest,
  times,
} from './refusals.ts'

// The cases of `src/server/api/bad-json.test.ts`, for every kind of route and with a database.

const ROUTES: readonly [name: string, send: (body: unknown, headers?: object) => Refusal[1]][] = [
  ['a submission', (body, headers) => postRequest('/v1/runs', body, headers)],
  ['a batch', (body, headers) => postRequest('/v1/runs:batch', body, headers)],
  ['a job', (body, headers) => putRequest('/v1/jobs/new', body, headers)],
  ['a token', (body, headers) => postRequest('/v1/tokens', body, headers)],
  ['a worker', (body, headers) => postRequest('/v1/workers', body, headers)],
]

const ofEach = (
  rows: (name: string, send: (typeof ROUTES)[number][1]) => readonly Refusal[],
): Refusal[] => ROUTES.flatMap(([name, send]) => rows(name, send))

assertRefused(
  'bodies that are not JSON, or not declared as JSON',
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

assertRefused(
  'keys of prototypes, duplicate keys, deep nesting',
  ofEach((name, send) => [
    [`${name}: __proto__`, send('{"__proto__":{"polluted":1}}'), 'invalid_json'],
    [
      `${name}: constructor`,
      send('{"env":{"constructor":{"prototype":{"polluted":1}}}}'),
      'invalid_json',
    ],
    [`${name}: a duplicate key`, send('{"name":"a","name":"b"}'), 'invalid_json'],
    [`${name}: 1,000,000 levels`, send('['.repeat(1_000_000)), 'invalid_json'],
    // Steps of a job have free names, and there may be 100,000: its other fields are checked one by one.
    [
      `${name}: 60,000 keys`,
      send(`{${times(60_000, (key) => `"k${key}":1`).join(',')}}`),
      ...(name === 'a job' ? (['unknown_field', 'k0'] as const) : (['invalid_json'] as const)),
    ],
    [`${name}: NUL in an unknown key`, send('{"\\u0000":1}'), 'invalid_field'],
  ]),
)

const tooMuch = 'x'.repeat(LIMITS.bodyBytes)
const far = { 'content-length': String(LIMITS.batchBodyBytes + 1) }

assertRefused('bodies that are too large', [
  ['a run', submitRequest({ input: 'x'.repeat(LIMITS.largeBodyBytes) }), 'body_too_large'],
  [
    'a job',
    putRequest('/v1/jobs/new', { script: 'x'.repeat(LIMITS.largeBodyBytes) }),
    'body_too_large',
  ],
  ['a worker', postRequest('/v1/workers', { name: tooMuch }), 'body_too_large'],
  [
    'a heartbeat',
    postRequest('/v1/workers/ses_00000000001/heartbeat', { held: [tooMuch] }),
    'body_too_large',
  ],
  [
    'what a run printed',
    postRequest('/v1/workers/ses_00000000001/logs', 'x'.repeat(LIMITS.logBodyBytes + 1)),
    'body_too_large',
  ],
  ['a batch that says how much it is', postRequest('/v1/runs:batch', '{}', far), 'body_too_large'],
  [
    'an input in a batch, where bodies may be larger',
    batchRequest({ job: 'a' }, { job: 'a', input: 'x'.repeat(LIMITS.inputBytes) }),
    'invalid_field',
    'runs.1.input',
  ],
])
