import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuseAddress } from './address-rules.ts'
import { parseIp } from './ip-address.ts'

const refused: [address: string, kind: string][] = [
  ['0.0.0.0', 'an unspecified address'],
  ['0.1.2.3', 'an unspecified address'],
  ['10.255.255.255', 'a private address'],
  ['100.64.0.1', "a carrier's private address"],
  ['100.100.100.200', "a carrier's private address"],
  ['127.0.0.1', 'a loopback address'],
  ['127.255.255.254', 'a loopback address'],
  ['168.63.129.16', "a cloud's metadata address"],
  ['169.254.169.254', 'a link-local address'],
  ['172.16.0.1', 'a private address'],
  ['172.31.255.255', 'a private address'],
  ['192.0.0.192', 'a reserved address'],
  ['192.0.2.1', 'a documentation address'],
  ['192.88.99.1', 'a relay address'],
  ['192.168.1.1', 'a private address'],
  ['198.19.255.255', 'a benchmark address'],
  ['198.51.100.7', 'a documentation address'],
  ['203.0.113.7', 'a documentation address'],
  ['224.0.0.1', 'a multicast address'],
  ['240.0.0.1', 'a reserved address'],
  ['255.255.255.255', 'the broadcast address'],
  ['::', 'an unspecified address'],
  ['::1', 'a loopback address'],
  ['::ffff:127.0.0.1', 'a loopback address'],
  ['::ffff:a9fe:a9fe', 'a link-local address'],
  ['::127.0.0.1', 'a loopback address inside an IPv6 one'],
  ['64:ff9b::7f00:1', 'a loopback address inside an IPv6 one'],
  ['64:ff9b::a9fe:a9fe', 'a link-local address inside an IPv6 one'],
  ['64:ff9b:1::a00:1', 'a reserved address'],
  ['2002:7f00:1::', 'a loopback address inside an IPv6 one'],
  ['2002:a9fe:a9fe::1', 'a link-local address inside an IPv6 one'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'a reserved address'],
  ['2001:2::1', 'a reserved address'],
  ['2001:10::1', 'a reserved address'],
  ['2001:db8::1', 'a documentation address'],
  ['3fff::1', 'a documentation address'],
  ['2a00:1450::5efe:10.0.0.1', 'a private address inside an IPv6 one'],
  ['2a00:1450::200:5efe:7f00:1', 'a loopback address inside an IPv6 one'],
  ['fc00::1', 'a private address'],
  ['fd00:ec2::254', 'a private address'],
  ['fe80::1', 'a link-local address'],
  ['febf::1', 'a link-local address'],
  ['fec0::1', 'a site-local address'],
  ['ff02::1', 'a multicast address'],
  ['100::1', 'a reserved address'],
  ['4000::1', 'a reserved address'],
  ['::ffff:0:127.0.0.1', 'a reserved address'],
]
for (const [address, kind] of refused) {
  test(`${address} is ${kind}, and refused`, () => {
    assert.equal(refuseAddress(parseIp(address) ?? assert.fail('not parsed')), kind)
  })
}

const permitted = [
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '168.63.129.15',
  '::ffff:1.1.1.1',
  '64:ff9b::808:808',
  '2002:808:808::1',
  '2606:4700:4700::1111',
  '2001:4860:4860::8888',
  '2a00:1450:4001::200e',
  '3ffe::1',
]
for (const address of permitted) {
  test(`${address} is public`, () => {
    assert.equal(refuseAddress(parseIp(address) ?? assert.fail('not parsed')), undefined)
  })
}

for (const text of ['fe80::1%eth0', '::1%lo', '127.1', '0177.0.0.1', '1.2.3.4.5', '', 'x', ':::']) {
  test(`"${text}" is not an address`, () => {
    assert.equal(parseIp(text), undefined)
  })
}
