import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatDuration, MAX_DURATION_MS, parseDuration } from './duration.ts'
import { PunctualError } from '../errors.ts'

const READ: readonly [text: string, ms: number][] = [
  ['250ms', 250],
  ['90s', 90_000],
  ['15m', 900_000],
  ['1h30m', 5_400_000],
  ['2d', 172_800_000],
  ['1w', 604_800_000],
  ['1.5h', 5_400_000],
  ['0s', 0],
  ['0.4ms', 0],
  ['1d1h1m1s1ms', 90_061_001],
  ['007s', 7_000],
  ['36600d', MAX_DURATION_MS],
]
for (const [text, ms] of READ) {
  test(`${text} is ${ms} ms`, () => assert.equal(parseDuration(text), ms))
}

const REFUSED: readonly [why: string, text: string][] = [
  ['nothing', ''],
  ['a number without a unit', '90'],
  ['a unit without a number', 's'],
  ['an unknown unit', '3y'],
  ['a unit in capitals', '5S'],
  ['a negative time', '-5s'],
  ['a signed time', '+5s'],
  ['a blank between', '1h 30m'],
  ['a blank around', ' 5s'],
  ['a trailing line break', '5s\n'],
  ['half a fraction', '1.s'],
  ['a fraction without a start', '.5s'],
  ['two points', '1.2.3s'],
  ['a decimal comma', '1,5s'],
  ['an exponent', '1e3s'],
  ['a hexadecimal number', '0x10s'],
  ['digits of another script', '٣s'],
  ['full-width digits', '５s'],
  ['a superscript', '5²s'],
  ['a micro sign', '5µs'],
  ['the word infinity', 'Infinitys'],
  ['a millisecond too many', `${MAX_DURATION_MS + 1}ms`],
  ['a century too many', '1000000d'],
  ['a sum that is too large', '36600d1ms'],
  ['more digits than a number holds', `${'9'.repeat(400)}s`],
  ['a good start with a bad end', '1h30m?'],
  ['ten thousand digits', '1'.repeat(10_000)],
  ['ten thousand letters', 's'.repeat(10_000)],
  ['ten thousand good parts and a bad one', `${'1ms'.repeat(3_333)}x`],
  ['a long fraction without a unit', `1.${'0'.repeat(10_000)}`],
  ['a NUL', '5s\0'],
]
for (const [why, text] of REFUSED) {
  test(`rejects ${why} as a duration`, () => {
    assert.throws(
      () => parseDuration(text, 'retry.delay'),
      (error) => {
        assert.ok(error instanceof PunctualError)
        assert.deepEqual([error.code, error.field], ['invalid_field', 'retry.delay'])
        assert.ok(error.message.length < 200, 'the message does not echo everything it was sent')
        return true
      },
    )
  })
}

test('any text is a duration in range or is rejected with an error', () => {
  const pieces = fc.array(
    fc.constantFrom('1', '0', '.', 'ms', 's', 'm', 'h', 'd', 'w', '-', ' ', '٣'),
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        pieces.map((list) => list.join('')),
      ),
      (text) => {
        try {
          const ms = parseDuration(text)
          assert.ok(Number.isInteger(ms) && ms >= 0 && ms <= MAX_DURATION_MS)
        } catch (error) {
          assert.ok(error instanceof PunctualError)
        }
      },
    ),
    { numRuns: 1_000 },
  )
})

const SHOWN: readonly [ms: number, text: string][] = [
  [0, '0ms'],
  [850, '850ms'],
  [999.6, '1s'],
  [1_000, '1s'],
  [59_999, '1m'],
  [5_400_000, '1h 30m'],
  [86_400_000, '1d'],
  [90_061_001, '1d 1h'],
  [86_400_000 + 60_000, '1d 1m'],
  [MAX_DURATION_MS, '36600d'],
]
for (const [ms, text] of SHOWN) {
  test(`formats ${ms} ms as ${text}`, () => assert.equal(formatDuration(ms), text))
}

test('a formatted duration is close to the original', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: MAX_DURATION_MS }), (ms) => {
      const shown = parseDuration(formatDuration(ms).replaceAll(' ', ''))
      assert.ok(Math.abs(shown - ms) <= Math.max(500, ms / 24))
    }),
  )
})
