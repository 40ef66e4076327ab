// Every spelling of an address that must not be called. Most of them lead to a test server, which
// must never see a connection.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../worker/clock/system-clock.ts'
import { parseAllowList } from './allow-list.ts'
import { createOutbound } from './outbound.ts'
import { openSink } from './sink.fixture.ts'

/** Answers of a hostile name server. */
const NAMES: Record<string, string[]> = {
  localhost: ['127.0.0.1', '::1'],
  'localhost.': ['127.0.0.1'],
  'sub.localhost': ['127.0.0.1'],
  'localtest.example': ['127.0.0.1'],
  '127.0.0.1.nip.example': ['127.0.0.1'],
  'metadata.google.internal': ['169.254.169.254'],
  'instance-data.ec2.internal': ['169.254.169.254'],
  'six.example': ['::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'nat.example': ['64:ff9b::7f00:1'],
  'private.example': ['10.0.0.1', '192.168.0.1', 'fd00::1'],
  'zone.example': ['fe80::1%lo'],
  'broken.example': ['not an address'],
  'octal.example': ['0177.0.0.1'],
}

const ADDRESSES = [
  // Loopback
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '127.127.127.127',
  '0',
  '0.0.0.0',
  '0x0',
  '2130706433',
  '0x7f000001',
  '0x7F.1',
  '017700000001',
  '0177.0.0.1',
  '0177.0.0.0x1',
  '00.0',
  '127.0.0.1%2e',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  '１２７.0.0.1',
  '127。0。0。1',
  '127．1',
  '①②⑦.0.0.1',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:7f00:1]',
  '[::ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::80ff:fffe]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'sub.localhost',
  'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
  'localtest.example',
  '127.0.0.1.nip.example',
  'six.example',
  'mapped.example',
  'nat.example',
  'octal.example',
  // Metadata services of clouds
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '0251.0376.0251.0376',
  '169.254.43518',
  '[::ffff:a9fe:a9fe]',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::a9fe:a9fe]',
  '[fd00:ec2::254]',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  'metadata.google.internal',
  'instance-data.ec2.internal',
  '[2002:a9fe:a9fe::]',
  // Private networks
  '10.0.0.1',
  '10.1',
  '172.16.0.1',
  '192.168.0.1',
  '192.168.257',
  '100.64.0.1',
  '[fc00::1]',
  '[fe80::1]',
  '[fec0::1]',
  'private.example',
  'zone.example',
  'broken.example',
  // Multicast and reserved ranges
  '224.0.0.1',
  '255.255.255.255',
  '240.0.0.1',
  '[ff02::1]',
  '198.18.0.1',
  '192.0.2.1',
  '[2001:db8::1]',
  '[100::1]',
]

const URLS = [
  'file:///etc/passwd',
  'gopher://127.0.0.1:6379/_FLUSHALL',
  'ftp://example.com/',
  'dict://x/',
  'data:text/plain,hi',
  'javascript:alert(1)',
  'unix:/run/docker.sock',
  'blob:http://x/1',
  'ws://example.com/',
  'ldap://example.com/',
  'http+unix://%2Frun%2Fdocker.sock/',
  'about:blank',
  'http://user@example.com/',
  'http://user:pw@example.com/',
  'http://@example.com/',
  'http://:@x/',
  'http://example.com@127.0.0.1/',
  'http://example.com:80@127.0.0.1/',
  'http:\\\\127.0.0.1\\',
  'http://example.com\\@127.0.0.1/',
  'http://exam\nple.com/',
  'http://example.com/\r\nX: 1',
  'http://example.com/ HTTP/1.1',
  '\thttp://example.com/',
  'http://exa mple.com/',
  '//example.com/',
  'http://',
  'http://[::1',
  'http://[fe80::1%25lo]/',
  'http://256.256.256.256/',
  'http://1.2.3.4.5/',
  'http://example.com:99999/',
  'http://example.com:-1/',
  'http://example.com:0/',
  'example.com',
  '/etc/passwd',
  '',
]

const PORTS = [1, 7, 21, 22, 23, 25, 53, 110, 111, 139, 143, 389, 445, 465, 587, 2049, 2375, 2379]
const MORE_PORTS = [3306, 5432, 6000, 6379, 6667, 9092, 10_250, 11_211, 27_017]

const create = () =>
  createOutbound({ clock: systemClock, resolve: async (name) => NAMES[name] ?? [] })

test(`none of ${ADDRESSES.length} spellings of internal addresses is called`, async (t) => {
  const sink = await openSink(t)
  for (const host of ADDRESSES) {
    for (const port of [`:${sink.port}`, '']) {
      const url = `http://${host}${port}/`
      await assert.rejects(create().send({ url }), { name: 'OutboundError', isRefusal: true }, url)
    }
  }
  assert.equal(sink.connections(), 0)
})

test(`none of ${URLS.length} strange URLs is called`, async () => {
  for (const url of URLS) {
    await assert.rejects(create().send({ url }), { code: 'url_refused' }, url)
  }
})

test('ports of other services are refused, even where every address is allowed', async () => {
  const outbound = createOutbound({
    clock: systemClock,
    allow: parseAllowList(['127.0.0.1']),
    resolve: async () => ['127.0.0.1'],
  })
  for (const port of [...PORTS, ...MORE_PORTS]) {
    for (const url of [`http://inner.example:${port}/`, `https://127.0.0.1:${port}/`]) {
      await assert.rejects(outbound.send({ url }), { code: 'address_refused', message: /on port/ })
    }
  }
})

const HEADERS: [name: string, value: string][] = [
  ['X', 'a\r\nHost: other'],
  ['X', 'a\nb'],
  ['X', 'a\rb'],
  ['X', 'a\0b'],
  ['X', 'a\u{1F600}'],
  ['X\r\nY', 'a'],
  ['X: Y', 'a'],
  ['', 'a'],
  ['Host', 'metadata'],
  ['hOsT', 'metadata'],
  ['Content-Length', '0'],
  ['Transfer-Encoding', 'chunked'],
  ['Connection', 'Upgrade'],
  ['Upgrade', 'websocket'],
  ['Expect', '100-continue'],
  ['Proxy-Authorization', 'Basic x'],
]
test("headers that would change the request's meaning are refused", async (t) => {
  const sink = await openSink(t)
  for (const [name, value] of HEADERS) {
    await assert.rejects(
      create().send({ url: sink.url, headers: { [name]: value } }),
      { code: 'header_refused' },
      name,
    )
  }
  assert.equal(sink.connections(), 0)
})
