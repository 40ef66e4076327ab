import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createJams } from './saturated-gates.ts'

test('a gate that turned somebody away is thought to be full for a moment, others are not', () => {
  const jams = createJams()
  assert.ok(jams.isFree([1], 0))
  jams.met([1, 2], 100)
  assert.ok(!jams.isFree([1], 100))
  assert.ok(!jams.isFree([3, 2], 124))
  assert.ok(jams.isFree([3], 100))
  assert.ok(jams.isFree([1, 2], 125))
})

test('whoever is turned away later makes the moment longer', () => {
  const jams = createJams()
  jams.met([1], 100)
  jams.met([1], 120)
  assert.ok(!jams.isFree([1], 144))
  assert.ok(jams.isFree([1], 145))
})
