import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runWithoutPauses } from '../pausing.ts'
import { areLarge, writingJson } from './json-text.ts'

const numbers = Array.from({ length: 10_000 }, (_, nth) => nth)

const VALUES: readonly unknown[] = [
  null,
  'text',
  {},
  [],
  numbers,
  { small: [1], numbers, after: { text: 'é"\n' } },
  [{ numbers }, 'x'.repeat(100_000), numbers, []],
  Object.fromEntries(numbers.map((nth) => [`key "${nth}"`, { nth, list: [nth] }])),
  Object.fromEntries(numbers.map((nth) => [nth, [[]]])),
]

test('writes the same text with pauses as JSON.stringify', () => {
  for (const value of VALUES)
    assert.equal(runWithoutPauses(writingJson(value)), JSON.stringify(value))
})

test('writes a large value with many pauses and a small one without any', () => {
  const pausesOf = (value: unknown) => {
    const work = writingJson(value)
    let pauses = 0
    while (!work.next().done) pauses += 1
    return pauses
  }
  assert.equal(pausesOf([1, 2, 3]), 0)
  assert.ok(pausesOf(numbers) >= 4)
  assert.ok(pausesOf([numbers, { numbers }]) >= 8)
})

test('counts values together or one large value alone', () => {
  assert.ok(!areLarge([undefined, 1, 'text', { a: [1, 2, 3] }]))
  assert.ok(!areLarge(Array.from({ length: 500 }, () => ({ customer: 'c', lines: [1, 2, 3] }))))
  assert.ok(areLarge([[numbers, numbers, numbers]]))
  assert.ok(areLarge(['x'.repeat(1_000_000)]))
  assert.ok(areLarge(Array.from({ length: 10_000 }, () => ({ customer: 'c' }))))
})

test('writes a key called __proto__ like any other', () => {
  const value = JSON.parse(`{"list":${JSON.stringify(numbers)},"__proto__":1}`) as unknown
  assert.equal(runWithoutPauses(writingJson(value)), JSON.stringify(value))
})
