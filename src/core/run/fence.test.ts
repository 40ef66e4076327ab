import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { claimNoOf, drawSalt, fenceOf, SALT_RANGE } from './fence.ts'

const LAST_CLAIM = 2 ** 33 - 1
const claimNo = fc.integer({ min: 1, max: LAST_CLAIM })
const salt = fc.integer({ min: 0, max: SALT_RANGE - 1 })

test('a later claim has a higher fence, whatever the random salt', () => {
  fc.assert(
    fc.property(claimNo, claimNo, salt, salt, (a, b, saltA, saltB) => {
      fc.pre(a !== b)
      assert.equal(fenceOf(a, saltA) < fenceOf(b, saltB), a < b)
    }),
  )
})

test('a fence is an exact number and contains the number of its claim', () => {
  fc.assert(
    fc.property(claimNo, salt, (claim, chance) => {
      const fence = fenceOf(claim, chance)
      assert.ok(Number.isSafeInteger(fence))
      assert.equal(claimNoOf(fence), claim)
    }),
  )
})

test('two claims with the same number and different salts have different fences', () => {
  assert.notEqual(fenceOf(5, 1), fenceOf(5, 2))
})

test('the last claim with the highest salt gives the largest exact number', () => {
  assert.equal(fenceOf(LAST_CLAIM, SALT_RANGE - 1), Number.MAX_SAFE_INTEGER)
})

const REFUSED: readonly [why: string, claimNo: number][] = [
  ['claim zero, which would be below every fence', 0],
  ['a negative claim', -1],
  ['one claim too many', LAST_CLAIM + 1],
  ['no number', Number.NaN],
  ['an endless number', Number.POSITIVE_INFINITY],
]
for (const [why, claim] of REFUSED) {
  test(`rejects ${why}`, () => assert.throws(() => fenceOf(claim, 0), RangeError))
}

test('the salt fills the low bits and no others', () => {
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  fc.assert(
    fc.property(random, (luck) => {
      const drawn = drawSalt(() => luck)
      assert.ok(Number.isInteger(drawn) && drawn >= 0 && drawn < SALT_RANGE)
    }),
  )
  assert.equal(
    drawSalt(() => 0),
    0,
  )
  assert.equal(
    drawSalt(() => 1 - Number.EPSILON / 2),
    SALT_RANGE - 1,
  )
})
