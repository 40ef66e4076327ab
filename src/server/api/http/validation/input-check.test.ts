import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../../../core/limits.ts'
import type { Pausing } from '../../../../core/pausing.ts'
import { checkingInput, checkInputAtOnce, checkSmallInput } from './input-check.ts'

function pausesOf(work: Pausing<void>): number {
  let pauses = 0
  while (!work.next().done) pauses += 1
  return pauses
}

const many = (count: number, item: unknown) => Array.from({ length: count }, () => item)

test('an input with many values is checked with pauses, a small one at once', () => {
  for (const small of [undefined, null, 1, 'x'.repeat(10_000), { a: many(1_000, 0) }]) {
    assert.ok(checkSmallInput(small, 'input'))
  }
  for (const large of [
    many(100_000, 0),
    many(20_000, [[[[[0]]]]]),
    Object.fromEntries(many(50_000, 0).map((_, nth) => [`key-${nth}`, nth])),
    { a: { b: [many(50_000, {}), many(50_000, 'x')] } },
  ]) {
    assert.ok(!checkSmallInput(large, 'input'))
    const pauses = pausesOf(checkingInput(large, 'input'))
    assert.ok(pauses >= 9, `${pauses} pauses`)
  }
})

test('infinity is found anywhere in a large input', () => {
  const wrong = { code: 'invalid_field', field: 'input' }
  for (const large of [
    [...many(20_000, 0), Infinity],
    { a: many(20_000, [0]), b: [[{ c: -Infinity }]] },
    [Infinity, ...many(20_000, 0)],
  ]) {
    assert.throws(() => checkInputAtOnce(large, 'input'), wrong)
  }
  assert.throws(() => checkInputAtOnce([Infinity], 'input'), wrong)
})

test('the size of an input is its real size, not the estimate', () => {
  const fitting = many(LIMITS.inputBytes / 2 - 1, 0)
  checkInputAtOnce(fitting, 'input')
  const tooLarge = { code: 'invalid_field', message: /8388610 bytes; at most 8388608/ }
  assert.throws(() => checkInputAtOnce([...fitting, 0, 0].slice(0, -1), 'input'), {
    ...tooLarge,
    message: /8388609 bytes/,
  })
  checkInputAtOnce('x'.repeat(LIMITS.inputBytes - 2), 'input')
  assert.throws(() => checkInputAtOnce('x'.repeat(LIMITS.inputBytes), 'input'), tooLarge)
})
