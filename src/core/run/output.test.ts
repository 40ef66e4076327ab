import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bytesOf, textOf, unfinishedBytes } from './output.ts'

const hex = (text: string) => Buffer.from(text, 'hex')

const table: [why: string, bytes: Buffer, text: string][] = [
  ['nothing', hex(''), ''],
  ['plain text', Buffer.from('hi\n'), 'hi\n'],
  ['every length of UTF-8', Buffer.from('aé€😀'), 'aé€😀'],
  ['a NUL is a character', hex('610062'), 'a\0b'],
  ['a byte that can never be', hex('61ff62'), 'a\udcff\x62'],
  ['a character cut short', hex('e282'), '\udce2\udc82'],
  ['a byte without its beginning', hex('8061'), '\udc80a'],
  [
    'a byte that looks like half of an emoji',
    Buffer.concat([Buffer.from('💀'), hex('80')]),
    '💀\udc80',
  ],
  ['half of a pair, written as UTF-8', hex('edb080'), '\udced\udcb0\udc80'],
  ['a character longer than it needs to be', hex('c0af'), '\udcc0\udcaf'],
  [
    'Latin-1 between UTF-8',
    Buffer.concat([Buffer.from('é'), hex('e9'), Buffer.from('😀')]),
    'é\udce9😀',
  ],
]
for (const [why, bytes, text] of table) {
  test(`${why}: read, and written as it was`, () => {
    assert.equal(textOf(bytes), text)
    assert.deepEqual(bytesOf(text), bytes)
  })
}

test('any bytes survive reading and writing, however they are split, also through JSON', () => {
  const bytesLikeText = fc.oneof(
    fc.uint8Array(),
    fc.string({ unit: 'grapheme' }).map((text) => Buffer.from(text)),
    fc.array(fc.constantFrom(0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0x41, 0xff)),
  )
  fc.assert(
    fc.property(bytesLikeText, fc.nat(), (list, cut) => {
      const bytes = Buffer.from(list)
      const at = bytes.length === 0 ? 0 : cut % bytes.length
      const text = textOf(bytes.subarray(0, at)) + textOf(bytes.subarray(at))
      assert.deepEqual(bytesOf(JSON.parse(JSON.stringify(text)) as string), bytes)
    }),
  )
})

test('an incomplete character is detected; bytes that can never become one are not waited for', () => {
  for (const char of ['a', 'é', '€', '😀']) {
    const bytes = Buffer.from(`x${char}`)
    for (let length = 1; length < bytes.length; length += 1) {
      assert.equal(unfinishedBytes(bytes.subarray(0, length)), length - 1, `${char} to ${length}`)
    }
    assert.equal(unfinishedBytes(bytes), 0)
  }
  for (const lost of ['80', '8080', '808080', '80808080', 'c0', 'ff', 'c3a9a9']) {
    assert.equal(unfinishedBytes(hex(lost)), 0, lost)
  }
})
