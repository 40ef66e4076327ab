import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { WirePlannedStep } from '../../core/workflow/views/step-views.ts'
import { drawGraph } from './draw-graph.ts'

/** `c: a b` is a step that needs two others. */
function steps(...lines: string[]): WirePlannedStep[] {
  return lines.map((line) => {
    const [name = '', needs = ''] = line.split(': ')
    const needed = needs === '' ? [] : needs.split(' ')
    return {
      name,
      kind: 'work',
      needs: needed,
      needs_count: needed.length,
      when: 'all-succeeded',
      finally: false,
      each: false,
    }
  })
}

const draw = (...lines: string[]) =>
  drawGraph(steps(...lines)).map(({ branch, step, alsoNeeds: also }) =>
    [branch + step.name, ...also].join(' +'),
  )

describe('a drawing of steps', () => {
  test('each step of a chain is drawn below the one before', () => {
    assert.deepEqual(draw('a', 'b: a', 'c: b'), ['a', '└─ b', '   └─ c'])
  })
  test('branches continue next to the steps between them', () => {
    const picture = draw('a', 'b: a', 'c: a', 'd: b')
    assert.deepEqual(picture, ['a', '├─ b', '│  └─ d', '└─ c'])
  })
  test('a join is drawn below the last step it needs, and names the others', () => {
    const picture = draw('a', 'b', 'c: a b', 'd: c a')
    assert.deepEqual(picture, ['a', 'b', '└─ c +a', '   └─ d +a'])
  })
  test('a step whose needs are not shown stays at the top', () => {
    assert.deepEqual(draw('b: a', 'c: b'), ['b +a', '└─ c'])
  })
  test('a chain of 100,000 does not cause 100,000 nested calls', () => {
    const chain = Array.from({ length: 100_000 }, (_, n) => (n === 0 ? '0' : `${n}: ${n - 1}`))
    assert.equal(drawGraph(steps(...chain)).length, 100_000)
  })
})
