import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { packEdges } from './edges.ts'
import { findCycle, describeCycle } from './step-cycle.ts'

const NONE = undefined

const table: [why: string, needs: number[][], cycle: number[] | undefined][] = [
  ['no steps', [], NONE],
  ['a chain', [[], [0], [1]], NONE],
  ['a diamond', [[], [0], [0], [1, 2]], NONE],
  ['a step that needs itself', [[0]], [0, 0]],
  ['two that need each other', [[1], [0]], [0, 1, 0]],
  ['a cycle after steps that could start', [[], [0, 3], [1], [2]], [1, 3, 2, 1]],
  ['a step after a cycle is not part of it', [[1], [2], [1]], [1, 2, 1]],
]

for (const [why, needs, cycle] of table) {
  test(`cycles: ${why}`, () => assert.deepEqual(findCycle(packEdges(needs)), cycle))
}

test('walks a chain, and a cycle, of a hundred thousand steps without recursion', () => {
  const chain = Array.from({ length: 100_000 }, (_, step) => (step === 0 ? [] : [step - 1]))
  assert.equal(findCycle(packEdges(chain)), undefined)
  const cycle = findCycle(packEdges(chain.with(0, [99_999])))
  assert.equal(cycle?.length, 100_001)
  const shown = describeCycle(cycle ?? [], (step) => `s${step}`)
  assert.match(shown, /^s0 → s99999 → .* → … 99993 more … → .* → s0$/)
})

test('walks through a million edges once', () => {
  const needs = Array.from({ length: 100_000 }, (_, step) =>
    Array.from({ length: Math.min(10, step) }, (_each, nth) => step - 1 - nth),
  )
  assert.equal(findCycle(packEdges(needs)), undefined)
})

test('finds a cycle exactly if there is one', () => {
  const graph = fc.integer({ min: 1, max: 12 }).chain((size) =>
    fc.array(fc.uniqueArray(fc.nat({ max: size - 1 }), { maxLength: 3 }), {
      minLength: size,
      maxLength: size,
    }),
  )
  fc.assert(
    fc.property(graph, (needs) => {
      const cycle = findCycle(packEdges(needs))
      assert.equal(
        cycle !== undefined,
        needs.some((_, step) => reaches(needs, step, step)),
      )
      for (const [nth, step] of (cycle ?? []).slice(0, -1).entries()) {
        assert.ok(needs[step]?.includes(cycle?.[nth + 1] as number))
      }
      if (cycle) assert.equal(cycle[0], cycle.at(-1))
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
