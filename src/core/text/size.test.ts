import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PunctualError } from '../errors.ts'
import { formatSize, parseSize, writeSize } from './size.ts'

const READ: readonly [text: string, bytes: number][] = [
  ['0B', 0],
  ['10B', 10],
  ['64KiB', 65_536],
  ['1.5MiB', 1_572_864],
  ['2GiB', 2_147_483_648],
  ['1kB', 1_000],
  ['10MB', 10_000_000],
  ['1.5GB', 1_500_000_000],
]
for (const [text, bytes] of READ) {
  test(`${text} is ${bytes} bytes`, () => assert.equal(parseSize(text), bytes))
}

const REFUSED: readonly [why: string, text: string][] = [
  ['nothing', ''],
  ['a number without a unit', '64'],
  ['a unit without a number', 'KiB'],
  ['a unit that is neither of the two thousands', '64KB'],
  ['a unit in small letters', '64kib'],
  ['a negative size', '-1B'],
  ['a blank between', '64 KiB'],
  ['a trailing line break', '64KiB\n'],
  ['two sizes', '1KiB1B'],
  ['an exponent', '1e3B'],
  ['digits of another script', '٣B'],
  ['full-width digits', '６４KiB'],
  ['more bytes than a number counts', '9007199254740992B'],
  ['more digits than a number holds', `${'9'.repeat(400)}GiB`],
  ['ten thousand digits', '1'.repeat(10_000)],
  ['a NUL', '64KiB\0'],
]
for (const [why, text] of REFUSED) {
  test(`rejects ${why} as a size`, () => {
    assert.throws(
      () => parseSize(text, 'limit'),
      (error) => {
        assert.ok(error instanceof PunctualError)
        assert.deepEqual([error.code, error.field], ['invalid_field', 'limit'])
        assert.ok(error.message.length < 200)
        return true
      },
    )
  })
}

test('any text is a number of bytes or is rejected', () => {
  const pieces = fc.array(fc.constantFrom('1', '0', '.', 'B', 'KiB', 'GB', '-', ' ', '٣'))
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        pieces.map((list) => list.join('')),
      ),
      (text) => {
        try {
          const bytes = parseSize(text)
          assert.ok(Number.isSafeInteger(bytes) && bytes >= 0)
        } catch (error) {
          assert.ok(error instanceof PunctualError)
        }
      },
    ),
    { numRuns: 1_000 },
  )
})

const SHOWN: readonly [bytes: number, text: string][] = [
  [0, '0 B'],
  [640, '640 B'],
  [1_023, '1023 B'],
  [1_024, '1 KiB'],
  [1_025, '1 KiB'],
  [1_536, '1.5 KiB'],
  [65_536, '64 KiB'],
  [102_390, '100 KiB'],
  [1_048_575, '1 MiB'],
  [1_572_864, '1.5 MiB'],
  [2 ** 30, '1 GiB'],
  [5 * 2 ** 40, '5120 GiB'],
]
for (const [bytes, text] of SHOWN) {
  test(`formats ${bytes} bytes as ${text}`, () => assert.equal(formatSize(bytes), text))
}

test('a written size reads as the same number', () => {
  assert.deepEqual([0, 1_000, 1_024, 536_870_912].map(writeSize), ['0B', '1000B', '1KiB', '512MiB'])
  fc.assert(
    fc.property(fc.nat(2 ** 31 - 1), (bytes) => assert.equal(parseSize(writeSize(bytes)), bytes)),
  )
})

test('a formatted size is close to the original', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 31 - 1), (bytes) => {
      const shown = parseSize(formatSize(bytes).replace(' ', ''))
      assert.ok(Math.abs(shown - bytes) <= bytes * 0.05)
    }),
  )
})
