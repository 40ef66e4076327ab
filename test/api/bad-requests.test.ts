import { postRequest, type Refusal, assertRefused } from './refusals.ts'

const url = 'https://api.example/'
const run = (work: object) => postRequest('/v1/runs', work)
const http = (more: object) => run({ http: { url, ...more } })
const container = (more: object) => run({ container: { image: 'alpine', ...more } })

const URLS = [
  'file:///etc/passwd',
  'gopher://127.0.0.1:6379/_INFO',
  'ftp://a/',
  'data:,a',
  'unix:/x',
  '',
  'http://',
  'http://a:b@c/',
  'http://@c/',
  'http://a b/',
  'http://a\\@b/',
  'http://a:99999/',
  'http://a/\r\nHost: b',
  'http://256.256.256.256/',
  'http://[::1',
  `http://a/${'x'.repeat(9e3)}`,
]

assertRefused('requests that could not be sent, or would be others than they seem', [
  ...URLS.map((one): Refusal => [
    `the address ${one.slice(0, 40)}`,
    http({ url: one }),
    'invalid_field',
    'http.url',
  ]),
  ['no address', run({ http: {} }), 'missing_field', 'http.url'],
  ['an address that is a number', http({ url: 1 }), 'invalid_field', 'http.url'],
  ['a request that is a text', run({ http: url }), 'invalid_field', 'http'],
  ['an unknown method', http({ method: 'TRACE' }), 'invalid_field', 'http.method'],
  [
    'a second header in one',
    http({ headers: { a: 'b\r\nc: d' } }),
    'invalid_field',
    'http.headers.a',
  ],
  [
    'a header of the connection',
    http({ headers: { host: 'a' } }),
    'invalid_field',
    'http.headers.host',
  ],
  ['a header that is a number', http({ headers: { a: 1 } }), 'invalid_field', 'http.headers.a'],
  ['a body of a get', http({ method: 'GET', body: 'a' }), 'invalid_field', 'http.body'],
  ['unknown statuses', http({ expect: '999' }), 'invalid_field', 'http.expect'],
  ['eleven redirects', http({ redirects: 11 }), 'invalid_field', 'http.redirects'],
  ['an endless answer', http({ max_response: '1GiB' }), 'invalid_field', 'http.max_response'],
  ['an unknown field', http({ follow: true }), 'unknown_field', 'http.follow'],
  ['a request and a command', run({ http: { url }, run: 'true' }), 'invalid_field', 'http'],
  ['a request with variables', run({ http: { url }, env: { A: 'b' } }), 'invalid_field', 'env'],
])

assertRefused('containers that no engine would understand, or would understand too well', [
  ['no image', run({ container: {} }), 'missing_field', 'container.image'],
  [
    'an option for an image',
    container({ image: '--privileged' }),
    'invalid_field',
    'container.image',
  ],
  ['a command that is a text', container({ command: 'ls' }), 'invalid_field', 'container.command'],
  ['an option for a user', container({ user: '--x' }), 'invalid_field', 'container.user'],
  [
    'a network of the machine',
    container({ network: 'host' }),
    'invalid_field',
    'container.network',
  ],
  ['an unknown pull policy', container({ pull: 'often' }), 'invalid_field', 'container.pull'],
  ['privileges', container({ privileged: true }), 'unknown_field', 'container.privileged'],
  [
    'a mount with options of its own',
    container({ mounts: [{ source: '/a,bind-propagation=shared', target: '/b' }] }),
    'invalid_field',
    'container.mounts.0.source',
  ],
  [
    'a mount of a parent',
    container({ mounts: [{ source: '/data/../etc', target: '/b' }] }),
    'invalid_field',
    'container.mounts.0.source',
  ],
  [
    'a directory of the machine',
    run({ container: { image: 'a' }, cwd: '/' }),
    'invalid_field',
    'cwd',
  ],
])
