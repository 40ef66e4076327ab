import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../core/limits.ts'
import { postRequest, rawRequest, testRefusals, submitRequest } from './testing/bad-input.ts'

const BOM = Buffer.from([0xef, 0xbb, 0xbf])
const nested = (levels: number) => `{"job":"a","input":${'['.repeat(levels)}${']'.repeat(levels)}}`
const manyKeys = Array.from({ length: 20_000 }, (_, key) => `"k${key}":1`).join(',')

testRefusals('invalid_json', [
  ['an empty body', rawRequest('')],
  ['half a body', rawRequest('{"job":"a"')],
  ['a trailing comma', rawRequest('{"job":"a",}')],
  ['a second value', rawRequest('{"job":"a"} {}')],
  ['a byte order mark', rawRequest(Buffer.concat([BOM, Buffer.from('{"job":"a"}')]))],
  ['bytes that are not UTF-8', rawRequest(Buffer.from([0x22, 0xff, 0x22]))],
  ['single quotes', rawRequest("{'job':'a'}")],
  ['NaN', rawRequest('{"job":"a","priority":NaN}')],
  ['Infinity', rawRequest('{"job":"a","priority":Infinity}')],
  ['a line break inside text', rawRequest('{"job":"a\n"}')],
  ['33 levels', rawRequest(nested(32))],
  ['100,000 levels', rawRequest(nested(100_000))],
  ['an object of 20,000 keys', rawRequest(`{${manyKeys}}`)],
  ['a key said twice', rawRequest('{"job":"a","job":"b"}')],
  ['a key said twice, once by escape', rawRequest('{"job":"a","j\\u006fb":"b"}')],
  ['a key said twice inside the input', rawRequest('{"job":"a","input":{"x":1,"x":2}}')],
  [
    'a key said twice among many',
    rawRequest(`{"job":"a","input":{${manyKeys.slice(0, 500)},"k3":1}}`),
  ],
  ['__proto__', rawRequest('{"job":"a","__proto__":{"polluted":1}}')],
  ['__proto__ inside the input', rawRequest('{"job":"a","input":[{"__proto__":{"polluted":1}}]}')],
  ['__proto__ by escape', rawRequest('{"job":"a","\\u005f_proto__":1}')],
  ['constructor', rawRequest('{"job":"a","input":{"constructor":{"prototype":{}}}}')],
  ['prototype', rawRequest('{"job":"a","tags":{"prototype":"x"}}')],
])

test('no request has modified a prototype', () => {
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
})

testRefusals('invalid_field', [
  ['a list where an object belongs', rawRequest('[]')],
  ['null where an object belongs', rawRequest('null')],
  ['text where an object belongs', rawRequest('"job"')],
  ['NUL', rawRequest('{"job":"a","input":{"x":"\\u0000"}}'), 'input.x'],
  ['NUL in a name', rawRequest('{"job":"a\\u0000"}'), 'job'],
  ['NUL in a key', rawRequest('{"job":"a","input":{"\\u0000":1}}'), 'input'],
  ['half a surrogate pair', rawRequest('{"job":"a","input":["\\ud800"]}'), 'input.0'],
  ['the other half', rawRequest('{"job":"a","input":"\\udc00"}'), 'input'],
  ['two halves in the wrong order', rawRequest('{"job":"a","input":"\\udc00\\ud800"}'), 'input'],
])

testRefusals('unsupported_media_type', [
  ['text', rawRequest('{"job":"a"}', { 'content-type': 'text/plain' })],
  ['a form', rawRequest('job=a', { 'content-type': 'application/x-www-form-urlencoded' })],
  ['nothing said', rawRequest('{"job":"a"}', { 'content-type': undefined })],
  ['nothing said and nothing sent', rawRequest('', { 'content-type': undefined })],
  ['nonsense', rawRequest('{"job":"a"}', { 'content-type': 'json' })],
  ['gzip', rawRequest('{"job":"a"}', { 'content-encoding': 'gzip' })],
])

const tooMuch = 'x'.repeat(LIMITS.bodyBytes)

testRefusals('body_too_large', [
  ['a run over 20 MiB', submitRequest({ input: 'x'.repeat(LIMITS.largeBodyBytes) })],
  ['a registration over 1 MiB', postRequest('/v1/workers', JSON.stringify({ name: tooMuch }))],
])

testRefusals('invalid_request', [
  ['a body longer than it claims', rawRequest('{"job":"a"}', { 'content-length': '5' })],
])
