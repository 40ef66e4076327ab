import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { WirePlannedStep } from '../../core/workflow/step-views.ts'
import { drawGraph } from './draw-graph.ts'

/** `c: a b` is a step that needs two others. */
function steps(...lines: string[]): WirePlannedStep[] {
  return lines.map((line) => {
    const [name = '', needs = ''] = line.split(': ')
    const needed = needs === '' ? [] : needs.split(' ')
    return {
      ...{ name, kind: 'work', needs: needed, needs_count: needed.length },
      ...{ when: 'all-succeeded', finally: false, each: false },
    }
  })
}

const draw = (...lines: string[]) =>
  drawGraph(steps(...lines)).map(({ branch, step, also }) =>
    [branch + step.name, ...also].join(' +'),
  )

describe('a picture of steps', () => {
  test('a chain hangs each on the one before', () => {
    assert.deepEqual(draw('a', 'b: a', 'c: b'), ['a', '└─ b', '   └─ c'])
  })
  test('branches go on beside what comes between', () => {
    const picture = draw('a', 'b: a', 'c: a', 'd: b')
    assert.deepEqual(picture, ['a', '├─ b', '│  └─ d', '└─ c'])
  })
  test('a join hangs on the last it needs, and names the others', () => {
    const picture = draw('a', 'b', 'c: a b', 'd: c a')
    assert.deepEqual(picture, ['a', 'b', '└─ c +a', '   └─ d +a'])
  })
  test('what is needed but not shown leaves a step at the top', () => {
    assert.deepEqual(draw('b: a', 'c: b'), ['b +a', '└─ c'])
  })
  test('a chain of 100,000 is no call of 100,000', () => {
    const chain = Array.from({ length: 100_000 }, (_, n) => (n === 0 ? '0' : `${n}: ${n - 1}`))
    assert.equal(drawGraph(steps(...chain)).length, 100_000)
  })
})
