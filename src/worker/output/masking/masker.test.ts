import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSeededRandom } from '../../../store/contract/fixture.ts'
import { encodedForms } from '../../../../test/support/encoded-forms.ts'
import { type Masker, maskerOf } from './masker.ts'

const PASSWORD = 'p@ss/w+rd é"1\\2~ x'
const KEY = `-----BEGIN KEY-----\n${'q7Zt/9+w'.repeat(9)}\nmmmm${'k3J/'.repeat(17)}\n-----END KEY-----\n`

function masker(...values: string[]): Masker {
  return maskerOf({ secrets: values.map((value, i) => ({ name: `S${i}`, as: 'env', value })) })
}

/** Masks a stream that is split at these positions. */
function through(mask: Masker, bytes: Buffer, cuts: readonly number[]): string {
  const stream = mask.stream()
  const edges = [0, ...cuts, bytes.length]
  const parts = edges.slice(1).map((to, i) => stream.push(bytes.subarray(edges[i] as number, to)))
  return Buffer.concat([...parts, stream.end()]).toString()
}

function everyByte(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length - 1 }, (_, index) => index + 1)
}

test('a secret is masked in every listed form, however the stream is split', () => {
  for (const value of [PASSWORD, KEY, 'hunter22', 'abcd']) {
    const mask = masker(value)
    for (const [how, text] of encodedForms(value)) {
      const bytes = Buffer.from(`before <${text}> after\n`)
      // The newline at the end of a secret is not masked.
      const end = how === 'raw' && value.endsWith('\n') ? '\n' : ''
      const expected = `before <***${end}> after\n`
      for (const cut of everyByte(bytes)) {
        assert.equal(through(mask, bytes, [cut]), expected, `${how}, cut at ${cut}`)
      }
      assert.equal(through(mask, bytes, everyByte(bytes)), expected, `${how}, byte by byte`)
      assert.equal(mask.text(bytes.toString()), expected, how)
    }
  }
})

test('base64 of a text that contains the secret reveals nothing of it, at any position', () => {
  for (const value of [PASSWORD, KEY, 'hunter22']) {
    const mask = masker(value)
    for (const before of ['', 'u', 'us', 'use', 'user:']) {
      for (const after of ['', '\n', '12', '123']) {
        const text = Buffer.from(before + value + after).toString('base64')
        const bytes = Buffer.from(`${text}\n`)
        for (const cuts of [[], everyByte(bytes)]) {
          const [first = '', rest, more] = through(mask, bytes, cuts).trim().split('***')
          assert.equal(more, undefined)
          assert.ok(text.startsWith(first) && text.endsWith(rest as string))
          // One character at each end may encode bits of both the secret and its surroundings.
          assert.ok(first.length <= Math.ceil((before.length * 8) / 6), `${before} in ${text}`)
          const left = (rest as string).replaceAll('=', '')
          assert.ok(left.length <= 1 + Math.ceil((after.length * 8) / 6), text)
        }
      }
    }
  }
})

test('base64 in lines, as the command prints it, is masked as a whole', () => {
  const lines = (width: number) =>
    Buffer.from(KEY)
      .toString('base64')
      .replace(new RegExp(`.{${width}}`, 'g'), '$&\n')
  for (const width of [76, 64]) assert.match(masker(KEY).text(lines(width)), /^\*{3}=*\n?$/)
})

test('each line of a secret is masked, unless it is too short', () => {
  const mask = masker('user: bob\r\n  password: hunter22\nx=1\n')
  assert.equal(mask.text('password: hunter22'), '***')
  assert.equal(mask.text('[user: bob] [x=1]'), '[***] [x=1]')
  assert.equal(mask.text(Buffer.from('user: bob').toString('hex')), '***')
})

test('secrets that overlap, touch or contain each other are masked completely', () => {
  const table: [why: string, secrets: string[], text: string, expected: string][] = [
    ['one is the beginning of another', ['abcd', 'abcdefgh'], 'abcdefgh abcd!', '*** ***!'],
    ['the longer one does not come', ['abcd', 'abcdefgh'], 'abcdefg.', '***efg.'],
    ['one overlaps another', ['abcdef', 'defghi'], '-abcdefghi-', '-***-'],
    ['one is inside another', ['cdef', 'abcdefgh'], 'abcdefgh', '***'],
    ['one overlaps itself', ['abab1abab'], 'abab1abab1abab.', '***.'],
    ['they touch', ['abcd', 'efgh'], 'abcdefgh', '***'],
    ['one begins again before it ends', ['aaab'], 'aaaaaab', 'aaa***'],
    ['nothing of it is one', ['abcd'], 'abc abd bcd', 'abc abd bcd'],
  ]
  for (const [why, secrets, text, expected] of table) {
    const mask = masker(...secrets)
    const bytes = Buffer.from(text)
    for (const cuts of [[], everyByte(bytes)]) {
      assert.equal(through(mask, bytes, cuts), expected, why)
    }
  }
})

test('for any order of secrets, noise and splits, text that is not secret stays unchanged', () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = createSeededRandom(seed)
    const below = (count: number) => Math.floor(random() * count)
    // An alphabet of two letters, so that beginnings of secrets are everywhere.
    const word = (length: number) => Array.from({ length }, () => 'ab'[below(2)]).join('')
    const secrets = Array.from({ length: 1 + below(3) }, () => `${word(3 + below(5))}X`)
    const noise = Array.from({ length: 1 + below(6) }, () => word(below(12)))
    const text = noise.map((part) => `${part}${secrets[below(secrets.length)] as string}Y`).join('')
    const bytes = Buffer.from(text)
    const cuts = everyByte(bytes).filter(() => below(3) === 0)
    const expected = coverAll(text, secrets)
    assert.equal(through(masker(...secrets), bytes, cuts), expected, `seed ${seed}: ${text}`)
  }
})

/** The slow and obvious implementation. */
function coverAll(text: string, secrets: readonly string[]): string {
  const covered = Array.from(text, () => false)
  for (const secret of secrets) {
    for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) {
      covered.fill(true, at, at + secret.length)
    }
  }
  return Array.from(text, (letter, i) =>
    covered[i] ? (covered[i - 1] ? '' : '***') : letter,
  ).join('')
}

test('only a possible beginning of a secret is held back', () => {
  const stream = masker('hunter22').stream()
  assert.equal(stream.push(Buffer.from('user hun')).toString(), 'user ')
  assert.equal(stream.push(Buffer.from('gry\n')).toString(), 'hungry\n')
  assert.equal(stream.push(Buffer.from('password: ')).toString(), 'password: ')
})

test('little of a long secret is held back, and a part of it is masked too', () => {
  const value = Array.from({ length: 5_000 }, (_, index) => index.toString(36)).join(':')
  const stream = masker(value).stream()
  const shown = stream.push(Buffer.from(value.slice(0, 10_000))).toString()
  assert.equal(shown, '***')
  assert.equal(stream.end().toString().replaceAll('***', '').length < 64, true)
})

test('a secret truncated in the middle is masked; its first letters are not', () => {
  assert.equal(through(masker('hunter22'), Buffer.from('it is hunt'), []), 'it is ***')
  assert.equal(through(masker('hunter22'), Buffer.from('it is hun'), []), 'it is hun')
})

test('a masked result stays JSON, and escaped secrets in it are masked', () => {
  const mask = masker('hunter22', '123456')
  const table: [given: string, expected: string][] = [
    ['{"a": "hunter22"}', '{"a": "***"}'],
    ['{"a": "\\u0068unter22"}', '{"a":"***"}'],
    ['{"pin": 123456}', '"{\\"pin\\": ***}"'],
    ['{"pin": 1.23456e5}', '"{\\"pin\\":***}"'],
    ['{"a": "fine", "n": 10000000000000000001}', '{"a": "fine", "n": 10000000000000000001}'],
  ]
  for (const [given, expected] of table) assert.equal(mask.result(given), expected)
})

test('a result that becomes too long when it is serialised again is replaced by a mark', () => {
  const mask = masker('hunter22')
  const numbers = (count: number) => Array.from({ length: count }, () => '1e20').join()
  const result = (count: number) => `{"a":"\\u0068unter22","b":[${numbers(count)}]}`
  assert.equal(mask.result(result(400_000)), '"***"')
  assert.match(mask.result(result(1_000)), /^\{"a":"\*\*\*","b":\[100000000000000000000,/)
})

test('without secrets the bytes pass through without a copy', () => {
  const mask = maskerOf({})
  const bytes = Buffer.from('hunter22')
  assert.equal(mask.stream().push(bytes), bytes)
  assert.equal(mask.text('hunter22'), 'hunter22')
})

test('JSON inside a string of the result is masked, too', () => {
  const value = 'a "b"\\c-é'
  const masker = maskerOf({ secrets: [{ name: 'A', value }] as never })
  const inner = JSON.stringify({ password: value })
  const masked = masker.result(JSON.stringify({ inner, [inner]: 1, plain: 'a\nb' }))
  const mark = '{"password":"***"}'
  assert.deepEqual(JSON.parse(masked), { inner: mark, [mark]: 1, plain: 'a\nb' })
  const untouched = '{ "a": "x\\ny" }'
  assert.equal(masker.result(untouched), untouched)
})
