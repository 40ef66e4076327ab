import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectionErrorIn, isNotConnected } from './connection-errors.ts'

const failure = (code: string, syscall?: string) =>
  Object.assign(new Error(code), { code, ...(syscall === undefined ? {} : { syscall }) })

const several = (...errors: Error[]) => new AggregateError(errors)

const cases: [what: string, error: unknown, expected: boolean][] = [
  ['a refused connection', failure('ECONNREFUSED', 'connect'), true],
  ['an unreachable host', failure('EHOSTUNREACH', 'connect'), true],
  ['a connect that timed out in the kernel', failure('ETIMEDOUT', 'connect'), true],
  ['a connect that timed out in undici', failure('UND_ERR_CONNECT_TIMEOUT'), true],
  ['an unknown name', failure('ENOTFOUND', 'getaddrinfo'), true],
  ['a name server that does not answer', failure('EAI_AGAIN', 'getaddrinfo'), true],
  [
    'several addresses without a connection',
    several(failure('ENETUNREACH', 'connect'), failure('ETIMEDOUT', 'connect')),
    true,
  ],
  [
    'several errors, one of them of a connection',
    several(failure('ENETUNREACH', 'connect'), failure('ECONNRESET', 'read')),
    false,
  ],
  ['a host that became unreachable', failure('EHOSTUNREACH', 'read'), false],
  ['a reset connection', failure('ECONNRESET', 'read'), false],
  ['a broken pipe', failure('EPIPE', 'write'), false],
  ['a closed socket', failure('UND_ERR_SOCKET'), false],
  ['an answer that did not begin in time', failure('UND_ERR_HEADERS_TIMEOUT'), false],
  ['an expired certificate', failure('CERT_HAS_EXPIRED'), false],
  ['an error without a code', new Error('other'), false],
  ['no error', undefined, false],
]
for (const [what, error, expected] of cases) {
  test(`${what}: ${expected ? 'nothing' : 'the request may have been'} sent`, () => {
    assert.equal(isNotConnected(error), expected)
  })
}

test('the error with a code is found in what fetch throws', () => {
  const cause = failure('ECONNREFUSED', 'connect')
  const wrapped = new TypeError('fetch failed', { cause: new Error('inner', { cause }) })
  assert.equal(connectionErrorIn(wrapped), cause)
  assert.equal(connectionErrorIn(new Error('other')), undefined)
  assert.equal(connectionErrorIn('text'), undefined)
})
