import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isSigned, type SignedMessage } from './check-signature.ts'
import { mintSecret, signedHeaders } from './signing.ts'

const SECRET = mintSecret()
const AT = 1_769_850_000

function signed(body: string, secrets = [SECRET]): SignedMessage {
  const headers = signedHeaders({ id: 'msg_1', body, at: AT }, secrets)
  return {
    id: headers['webhook-id'] ?? '',
    timestamp: headers['webhook-timestamp'] ?? '',
    signature: headers['webhook-signature'] ?? '',
    body: Buffer.from(body),
  }
}

describe('a signed call', () => {
  const good = signed('{"a":1}')
  const TABLE: [why: string, message: SignedMessage, secret: string, atS: number, ok: boolean][] = [
    ['as we sign our own', good, SECRET, AT, true],
    ['by a clock that is 5 minutes off', good, SECRET, AT + 300, true],
    [
      'signed with an older secret as well',
      signed('{"a":1}', [mintSecret(), SECRET]),
      SECRET,
      AT,
      true,
    ],
    ['too long ago', good, SECRET, AT + 301, false],
    ['too far in the future', good, SECRET, AT - 301, false],
    ['with another secret', good, mintSecret(), AT, false],
    ['and changed on its way', { ...good, body: Buffer.from('{"a":2}') }, SECRET, AT, false],
    ['under another id', { ...good, id: 'msg_2' }, SECRET, AT, false],
    ['at another time', { ...good, timestamp: String(AT + 1) }, SECRET, AT, false],
    ['without a signature', { ...good, signature: '' }, SECRET, AT, false],
    [
      'with an unknown scheme',
      { ...good, signature: good.signature.replace('v1', 'v2') },
      SECRET,
      AT,
      false,
    ],
    ['without an id', { ...good, id: '' }, SECRET, AT, false],
    ['without a time', { ...good, timestamp: 'NaN' }, SECRET, AT, false],
  ]
  for (const [why, message, secret, atS, ok] of TABLE) {
    test(why, () => assert.equal(isSigned(message, secret, atS * 1_000), ok))
  }
  test('with a plain-text secret', () => {
    const key = `whsec_${Buffer.from('open sesame').toString('base64')}`
    assert.equal(isSigned(signed('{}', [key]), 'open sesame', AT * 1_000), true)
  })
})
