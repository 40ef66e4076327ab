import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findTriggerCycle } from './trigger-cycle.ts'

/** `a>b`: runs of a trigger runs of b. */
const edgesOf = (text: string) =>
  text.split(' ').flatMap((edge) => {
    const [cause = '', job = ''] = edge.split('>')
    return cause === '' ? [] : [{ cause, job }]
  })

const table: [why: string, causes: string[], edges: string, path: string[] | undefined][] = [
  ['no trigger leads to it', ['x', 'y'], '', undefined],
  ['it triggers itself', ['j'], '', ['j', 'j']],
  ['one job in between', ['x'], 'j>x', ['j', 'x', 'j']],
  ['several jobs in between', ['z'], 'j>x x>y y>z', ['j', 'x', 'y', 'z', 'j']],
  ['only the second leads back', ['a', 'x'], 'b>a j>x', ['j', 'x', 'j']],
  ['paths that meet are not a cycle', ['x', 'y'], 'a>x a>y b>a', undefined],
  ['a cycle of other jobs does not count', ['x'], 'x>y y>x', undefined],
]

for (const [why, causes, edges, path] of table) {
  test(`jobs that would trigger each other: ${why}`, () => {
    assert.deepEqual(findTriggerCycle('j', causes, edgesOf(edges)), path)
  })
}

test('walks a chain of a hundred thousand jobs', () => {
  const edges = Array.from({ length: 100_000 }, (_, nth) => ({
    cause: `${nth}`,
    job: `${nth + 1}`,
  }))
  const path = findTriggerCycle('0', ['100000'], edges)
  assert.equal(path?.length, 100_002)
})
