import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../core/limits.ts'
import { post, raw, refuses, submit } from './testing/bad-input.ts'

const BOM = Buffer.from([0xef, 0xbb, 0xbf])
const nested = (levels: number) => `{"job":"a","input":${'['.repeat(levels)}${']'.repeat(levels)}}`
const manyKeys = Array.from({ length: 20_000 }, (_, key) => `"k${key}":1`).join(',')

refuses('invalid_json', [
  ['an empty body', raw('')],
  ['half a body', raw('{"job":"a"')],
  ['a trailing comma', raw('{"job":"a",}')],
  ['a second value', raw('{"job":"a"} {}')],
  ['a byte order mark', raw(Buffer.concat([BOM, Buffer.from('{"job":"a"}')]))],
  ['bytes that are not UTF-8', raw(Buffer.from([0x22, 0xff, 0x22]))],
  ['single quotes', raw("{'job':'a'}")],
  ['NaN', raw('{"job":"a","priority":NaN}')],
  ['Infinity', raw('{"job":"a","priority":Infinity}')],
  ['a line break inside text', raw('{"job":"a\n"}')],
  ['33 levels', raw(nested(32))],
  ['100,000 levels', raw(nested(100_000))],
  ['an object of 20,000 keys', raw(`{${manyKeys}}`)],
  ['a key said twice', raw('{"job":"a","job":"b"}')],
  ['a key said twice, once by escape', raw('{"job":"a","j\\u006fb":"b"}')],
  ['a key said twice inside the input', raw('{"job":"a","input":{"x":1,"x":2}}')],
  ['a key said twice among many', raw(`{"job":"a","input":{${manyKeys.slice(0, 500)},"k3":1}}`)],
  ['__proto__', raw('{"job":"a","__proto__":{"polluted":1}}')],
  ['__proto__ inside the input', raw('{"job":"a","input":[{"__proto__":{"polluted":1}}]}')],
  ['__proto__ by escape', raw('{"job":"a","\\u005f_proto__":1}')],
  ['constructor', raw('{"job":"a","input":{"constructor":{"prototype":{}}}}')],
  ['prototype', raw('{"job":"a","tags":{"prototype":"x"}}')],
])

test('no request has touched a prototype', () => {
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
})

refuses('invalid_field', [
  ['a list where an object belongs', raw('[]')],
  ['null where an object belongs', raw('null')],
  ['text where an object belongs', raw('"job"')],
  ['NUL', raw('{"job":"a","input":{"x":"\\u0000"}}'), 'input.x'],
  ['NUL in a name', raw('{"job":"a\\u0000"}'), 'job'],
  ['NUL in a key', raw('{"job":"a","input":{"\\u0000":1}}'), 'input'],
  ['half a surrogate pair', raw('{"job":"a","input":["\\ud800"]}'), 'input.0'],
  ['the other half', raw('{"job":"a","input":"\\udc00"}'), 'input'],
  ['two halves in the wrong order', raw('{"job":"a","input":"\\udc00\\ud800"}'), 'input'],
])

refuses('unsupported_media_type', [
  ['text', raw('{"job":"a"}', { 'content-type': 'text/plain' })],
  ['a form', raw('job=a', { 'content-type': 'application/x-www-form-urlencoded' })],
  ['nothing said', raw('{"job":"a"}', { 'content-type': undefined })],
  ['nothing said and nothing sent', raw('', { 'content-type': undefined })],
  ['nonsense', raw('{"job":"a"}', { 'content-type': 'json' })],
  ['gzip', raw('{"job":"a"}', { 'content-encoding': 'gzip' })],
])

const tooMuch = 'x'.repeat(LIMITS.bodyBytes)

refuses('body_too_large', [
  ['a run over 20 MiB', submit({ input: 'x'.repeat(LIMITS.largeBodyBytes) })],
  ['a registration over 1 MiB', post('/v1/workers', JSON.stringify({ name: tooMuch }))],
])

refuses('invalid_request', [
  ['a body longer than it claims', raw('{"job":"a"}', { 'content-length': '5' })],
])
