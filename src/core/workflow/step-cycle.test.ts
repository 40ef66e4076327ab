import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { packEdges } from './edges.ts'
import { findCircle, showCircle } from './step-cycle.ts'

const NONE = undefined

const table: [why: string, needs: number[][], circle: number[] | undefined][] = [
  ['nothing needs nothing', [], NONE],
  ['a chain', [[], [0], [1]], NONE],
  ['a diamond', [[], [0], [0], [1, 2]], NONE],
  ['a step that needs itself', [[0]], [0, 0]],
  ['two that need each other', [[1], [0]], [0, 1, 0]],
  ['a circle behind steps that could begin', [[], [0, 3], [1], [2]], [1, 3, 2, 1]],
  ['a step behind a circle is not part of it', [[1], [2], [1]], [1, 2, 1]],
]

for (const [why, needs, circle] of table) {
  test(`circles: ${why}`, () => assert.deepEqual(findCircle(packEdges(needs)), circle))
}

test('a chain of a hundred thousand steps is walked without a stack, and so is a circle', () => {
  const chain = Array.from({ length: 100_000 }, (_, step) => (step === 0 ? [] : [step - 1]))
  assert.equal(findCircle(packEdges(chain)), undefined)
  const circle = findCircle(packEdges(chain.with(0, [99_999])))
  assert.equal(circle?.length, 100_001)
  const shown = showCircle(circle ?? [], (step) => `s${step}`)
  assert.match(shown, /^s0 → s99999 → .* → … 99993 more … → .* → s0$/)
})

test('a million edges are walked once', () => {
  const needs = Array.from({ length: 100_000 }, (_, step) =>
    Array.from({ length: Math.min(10, step) }, (_each, nth) => step - 1 - nth),
  )
  assert.equal(findCircle(packEdges(needs)), undefined)
})

test('what is found is a circle, and where there is one it is found', () => {
  const graph = fc.integer({ min: 1, max: 12 }).chain((size) =>
    fc.array(fc.uniqueArray(fc.nat({ max: size - 1 }), { maxLength: 3 }), {
      minLength: size,
      maxLength: size,
    }),
  )
  fc.assert(
    fc.property(graph, (needs) => {
      const circle = findCircle(packEdges(needs))
      assert.equal(
        circle !== undefined,
        needs.some((_, step) => reaches(needs, step, step)),
      )
      for (const [nth, step] of (circle ?? []).slice(0, -1).entries()) {
        assert.ok(needs[step]?.includes(circle?.[nth + 1] as number))
      }
      if (circle) assert.equal(circle[0], circle.at(-1))
    }),
  )
})

function reaches(needs: readonly number[][], from: number, to: number, seen = new Set<number>()) {
  for (const need of needs[from] ?? []) {
    if (need === to) return true
    if (!seen.has(need) && reaches(needs, need, to, seen.add(need))) return true
  }
  return false
}
