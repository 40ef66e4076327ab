import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAllowList } from './allow-list.ts'
import { parseIp } from './ip-address.ts'

const to = (hostname: string, port: number, address = hostname) => ({
  hostname,
  port,
  address: parseIp(address) ?? assert.fail(address),
})

type Row = [why: string, entry: string, destination: ReturnType<typeof to>]
const permitted: Row[] = [
  ['an address of a range', '10.0.0.0/8', to('10.200.1.1', 80)],
  ['a name that leads into the range', '10.0.0.0/8', to('db.example', 80, '10.0.0.1')],
  ['one address', '127.0.0.1', to('localhost', 8080, '127.0.0.1')],
  ['one address and port', '127.0.0.1:8080', to('localhost', 8080, '127.0.0.1')],
  ['the same address written as IPv6', '127.0.0.1:8080', to('x', 8080, '::ffff:7f00:1')],
  ['a range and port', '10.0.0.0/8:8080', to('10.1.1.1', 8080)],
  ['an IPv6 range', 'fd00::/8', to('fd12::1', 443)],
  ['an IPv6 address', '::1', to('::1', 80)],
  ['an IPv6 address and port', '[::1]:8080', to('::1', 8080)],
  ['a name, wherever it leads', 'Intranet.example', to('intranet.example', 80, '10.0.0.1')],
  ['the same name, absolute', 'intranet.example', to('intranet.example.', 80, '10.0.0.1')],
  ['a name that is not ASCII', 'bücher.example', to('xn--bcher-kva.example', 80, '10.0.0.1')],
  ['everything, if one insists', '0.0.0.0/0', to('127.0.0.1', 80)],
]
for (const [why, entry, destination] of permitted) {
  test(`${entry} permits ${why}`, () => {
    assert.equal(parseAllowList(['192.0.2.1', entry]).permits(destination), true)
  })
}

const kept: Row[] = [
  ['an address outside the range', '10.0.0.0/9', to('10.128.0.0', 80)],
  ['another address', '127.0.0.1', to('127.0.0.2', 80)],
  ['another port', '127.0.0.1:8080', to('127.0.0.1', 8081)],
  ['IPv6 because of IPv4', '0.0.0.0/0', to('::1', 80)],
  ['another name for the same address', 'a.example', to('b.example', 80, '10.0.0.1')],
  ['names below it', 'example', to('a.example', 80, '10.0.0.1')],
]
for (const [why, entry, destination] of kept) {
  test(`${entry} does not permit ${why}`, () => {
    assert.equal(parseAllowList([entry]).permits(destination), false)
  })
}

test('only an entry with a port opens a dangerous port', () => {
  const redis = to('10.0.0.1', 6379)
  assert.equal(parseAllowList(['10.0.0.0/8']).permitsPort(redis), false)
  assert.equal(parseAllowList(['10.0.0.0/8:6379']).permitsPort(redis), true)
})

const wrong = [
  '',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/8/9',
  '10.0.0/8',
  '127.1',
  '0x7f.1',
  '2130706433',
  '127.0.0.1:0',
  '127.0.0.1:65536',
  '127.0.0.1:http',
  '[::1',
  '::1%lo',
  '[::1]:',
  'a b',
  '*',
  'http://a.example',
  'a.example/8',
  '*.example',
  'user@a.example',
]
for (const entry of wrong) {
  test(`"${entry}" is not a valid entry`, () => {
    assert.throws(() => parseAllowList([entry]), { code: 'config_invalid', field: 'allow-address' })
  })
}
