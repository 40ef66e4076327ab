import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSaturatedGates } from './saturated-gates.ts'

test('a gate that blocked a run counts as saturated for a moment, others do not', () => {
  const saturatedGates = createSaturatedGates()
  assert.ok(saturatedGates.isFree([1], 0))
  saturatedGates.noteBlocked([1, 2], 100)
  assert.ok(!saturatedGates.isFree([1], 100))
  assert.ok(!saturatedGates.isFree([3, 2], 124))
  assert.ok(saturatedGates.isFree([3], 100))
  assert.ok(saturatedGates.isFree([1, 2], 125))
})

test('a later blocked run extends the period', () => {
  const saturatedGates = createSaturatedGates()
  saturatedGates.noteBlocked([1], 100)
  saturatedGates.noteBlocked([1], 120)
  assert.ok(!saturatedGates.isFree([1], 144))
  assert.ok(saturatedGates.isFree([1], 145))
})
