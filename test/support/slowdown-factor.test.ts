import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slowdownFactor } from './slowdown-factor.ts'

const machines: [load: number, cores: number, expected: number][] = [
  [0, 2, 1],
  [2, 2, 1],
  [7, 2, 3.5],
  [7, 16, 1],
  [500, 2, 10],
]
for (const [load, cores, expected] of machines) {
  test(`a load of ${load} on ${cores} cores makes deadlines ${expected} times as long`, () => {
    assert.equal(slowdownFactor(load, cores), expected)
  })
}
