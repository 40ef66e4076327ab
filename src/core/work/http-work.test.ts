import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HttpInput, type HttpWork, readExpected, writeHttp } from './http-work.ts'
import { readWork } from './work.ts'

const url = 'https://api.example/v1/orders?a=b'
const readable: [why: string, input: HttpInput, work: Omit<HttpWork, 'executor'>][] = [
  ['an address alone is got', { url }, { url, method: 'GET' }],
  ['a body is posted', { url, body: '' }, { url, method: 'POST', body: '' }],
  ['methods are written as one likes', { url, method: 'delete' }, { url, method: 'DELETE' }],
  [
    'a value is posted as JSON, and says so',
    { url, json: { a: [1] } },
    {
      url,
      method: 'POST',
      body: '{"a":[1]}',
      headers: { 'Content-Type': 'application/json' },
    },
  ],
  [
    'unless it says otherwise',
    { url, method: 'PUT', json: null, headers: { 'content-type': 'application/x' } },
    { url, method: 'PUT', body: 'null', headers: { 'content-type': 'application/x' } },
  ],
  [
    'everything else',
    { url, headers: { 'X-A': 'b' }, expect: '200-299,304', max_response: '1KiB', redirects: 0 },
    {
      url,
      method: 'GET',
      headers: { 'X-A': 'b' },
      expect: '200-299,304',
      max_response_bytes: 1024,
      redirects: 0,
    },
  ],
]
for (const [why, input, work] of readable) {
  test(why, () => {
    const read = readWork({ http: input })
    assert.deepEqual(read, { executor: 'http', ...work })
    assert.ok(read?.executor === 'http')
    assert.deepEqual(readWork({ http: writeHttp(read) }), read)
  })
}

const refused: [why: string, input: Partial<HttpInput>, field: string][] = [
  ['no address', { url: '' }, 'url'],
  ['an address without a scheme', { url: 'api.example' }, 'url'],
  ['a file', { url: 'file:///etc/passwd' }, 'url'],
  ['gopher', { url: 'gopher://a/' }, 'url'],
  ['a user name', { url: 'https://a:b@c/' }, 'url'],
  ['a line break in the address', { url: 'https://a/\r\nHost: b' }, 'url'],
  ['an endless address', { url: `https://a/${'x'.repeat(9_000)}` }, 'url'],
  ['an unknown method', { method: 'BREW' }, 'method'],
  ['a tunnel', { method: 'CONNECT' }, 'method'],
  ['a body where none can be', { method: 'GET', body: 'x' }, 'body'],
  ['NUL in a body', { body: '\0' }, 'body'],
  ['two bodies', { body: 'x', json: 1 }, 'json'],
  ['a header value that starts another header', { headers: { A: 'b\r\nC: d' } }, 'headers.A'],
  ['a header without a name', { headers: { '': 'b' } }, 'headers.'],
  ['a header of the connection', { headers: { Host: 'b' } }, 'headers.Host'],
  ['a header of ours', { headers: { 'Punctual-Fence': '1' } }, 'headers.Punctual-Fence'],
  ['a header twice', { headers: { a: '1', A: '2' } }, 'headers.A'],
  ['impossible statuses', { expect: '600' }, 'expect'],
  ['a reversed range of statuses', { expect: '299-200' }, 'expect'],
  ['no statuses', { expect: '' }, 'expect'],
  ['nothing of the answer', { max_response: '0B' }, 'max_response'],
  ['too much of the answer', { max_response: '65MiB' }, 'max_response'],
]
for (const [why, input, field] of refused) {
  test(`rejects ${why} and names the field`, () => {
    const http = { url, ...input }
    const at = { code: 'invalid_field', field: `runs.3.http.${field}` }
    assert.throws(() => readWork({ http }, 'runs.3.'), at)
  })
}

for (const [field, more] of Object.entries({ env: { A: 'b' }, cwd: '/', stdin: '', run_as: 'a' })) {
  test(`rejects ${field} for a request`, () => {
    assert.throws(() => readWork({ http: { url }, [field]: more }), { field })
  })
}

test('rejects a request together with a command', () => {
  assert.throws(() => readWork({ http: { url }, run: 'true' }), { field: 'http' })
})

test('expected statuses are those listed and the ranges between', () => {
  const isExpected = readExpected('200, 300-302')
  const all = Array.from({ length: 500 }, (_, index) => index + 100)
  assert.deepEqual(all.filter(isExpected), [200, 300, 301, 302])
})
