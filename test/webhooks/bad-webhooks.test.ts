import {
  getRequest,
  postRequest,
  putRequest,
  type RawRequest,
  type Refusal,
  assertRefused,
  times,
} from '../api/refusals.ts'

const SECRET = (bytes: number) => `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`
const GOOD = { name: 'new', url: 'https://example.com/hook', events: ['run.failed'] }
const create = (changes: object): RawRequest => postRequest('/v1/webhooks', { ...GOOD, ...changes })
const without = (field: string): RawRequest =>
  postRequest('/v1/webhooks', { ...GOOD, [field]: undefined })
const wrong = (field: string, values: readonly unknown[], at = field): Refusal[] =>
  values.map((value) => [
    `${field}: ${JSON.stringify(value).slice(0, 60)}`,
    create({ [field]: value }),
    'invalid_field',
    at,
  ])
const NOTHING_AT = 'dlv_00000000001'

assertRefused('webhooks: what is missing, unknown or of another kind', [
  ...['name', 'url', 'events'].map((field): Refusal => [
    `without ${field}`,
    without(field),
    'missing_field',
    field,
  ]),
  ...['id', 'sealed', 'ending', 'failing_since', 'disabled_reason', 'claim', 'headers'].map(
    (field): Refusal => [`${field} of its own`, create({ [field]: 1 }), 'unknown_field', field],
  ),
  ['a name in the body of PUT', putRequest('/v1/webhooks/a', GOOD), 'unknown_field', 'name'],
  ...wrong('name', ['', 'a b', '../x', 'x'.repeat(129), 1, null]),
  ...wrong('events', [[], 'run.failed', {}, null, times(9, () => 'run.failed')]),
  ...wrong('events', [['run.started'], ['*'], [1]], 'events.0'),
  ...wrong('enabled', ['true', 1, null]),
  ...wrong('jobs', [[], 'etl', {}, times(101, () => 'a')]),
  ...wrong('jobs', [['a b'], ['é'], [''], ['a?'], ['x'.repeat(129)], [null]], 'jobs.0'),
])

assertRefused('webhooks: addresses that no request may go to', [
  ...wrong('url', [
    '',
    'x',
    '/hook',
    'example.com/hook',
    '//example.com',
    'https://',
    'http:',
    1,
    null,
    'file:///etc/passwd',
    'gopher://a.example',
    'ftp://a.example',
    'javascript:alert(1)',
    'https://user@example.com',
    'https://user:pass@example.com',
    'https://@example.com',
    'https://example.com/a b',
    'https://exam\nple.com',
    'https://example.com\\@evil.example',
    'https://example.com:0/',
    'https://example.com:99999/',
    'https://example.com/#part',
    'https://[::1',
    'https://exa mple',
    ' https://example.com',
    'https://example.com\u0000',
    `https://example.com/${'x'.repeat(8_192)}`,
  ]),
])

assertRefused(
  'webhooks: secrets that are too easy, or written so that others could not read them',
  [
    ...wrong('secret', [
      '',
      'x',
      'whsec_',
      'hunter2hunter2hunter2hunter2',
      SECRET(23),
      SECRET(65),
      null,
      7,
      SECRET(32).replace('whsec_', ''),
      `${SECRET(32)}=`,
      `${SECRET(32)}\n`,
      ` ${SECRET(32)}`,
      SECRET(32).replace('A', '-'),
    ]),
    ...['x', 'soon', '-1s', '31d', 5, null].map((keep): Refusal => [
      `keep: ${JSON.stringify(keep)}`,
      postRequest('/v1/webhooks/nobody/rotate', { keep }),
      'invalid_field',
      'keep',
    ]),
    ['a rotation of nothing', postRequest('/v1/webhooks/nobody/rotate', {}), 'webhook_not_found'],
  ],
)

assertRefused('webhooks: what is not there', [
  ['to show', getRequest('/v1/webhooks/nobody'), 'webhook_not_found'],
  ['to try', postRequest('/v1/webhooks/nobody/test', undefined), 'webhook_not_found'],
  ['to look at', getRequest('/v1/webhooks/nobody/deliveries'), 'webhook_not_found'],
  ['to look into', getRequest(`/v1/webhooks/nobody/deliveries/${NOTHING_AT}`), 'webhook_not_found'],
  [
    'to send again',
    postRequest(`/v1/webhooks/nobody/deliveries/${NOTHING_AT}/redeliver`, undefined),
    'webhook_not_found',
  ],
  ...['x', 'run_00000000001', 'dlv_1', 'dlv_zzzzzzzzzzz', '%00'].map((id): Refusal => [
    `a delivery called ${id}`,
    getRequest(`/v1/webhooks/nobody/deliveries/${id}`),
    'invalid_id',
    'id',
  ]),
  [
    'a page of nothing',
    getRequest('/v1/webhooks/nobody/deliveries?cursor=x'),
    'invalid_cursor',
    'cursor',
  ],
  ['an invalid name', getRequest('/v1/webhooks/a%20b'), 'invalid_field', 'name'],
  ['to delete', { method: 'DELETE', path: '/v1/webhooks/nobody' }, 'webhook_not_found'],
])
