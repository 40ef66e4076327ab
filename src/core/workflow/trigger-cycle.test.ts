import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFollowCircle } from './trigger-cycle.ts'

/** `a>b`: runs of a start runs of b. */
const edgesOf = (text: string) =>
  text.split(' ').flatMap((edge) => {
    const [cause = '', job = ''] = edge.split('>')
    return cause === '' ? [] : [{ cause, job }]
  })

const table: [why: string, causes: string[], edges: string, path: string[] | undefined][] = [
  ['nobody leads to it', ['x', 'y'], '', undefined],
  ['it follows itself', ['j'], '', ['j', 'j']],
  ['one on the way', ['x'], 'j>x', ['j', 'x', 'j']],
  ['several on the way', ['z'], 'j>x x>y y>z', ['j', 'x', 'y', 'z', 'j']],
  ['only the second leads back', ['a', 'x'], 'b>a j>x', ['j', 'x', 'j']],
  ['ways that meet are no circle', ['x', 'y'], 'a>x a>y b>a', undefined],
  ['a circle of others is not its own', ['x'], 'x>y y>x', undefined],
]

for (const [why, causes, edges, path] of table) {
  test(`jobs that would start each other: ${why}`, () => {
    assert.deepEqual(findFollowCircle('j', causes, edgesOf(edges)), path)
  })
}

test('a way of a hundred thousand jobs is walked', () => {
  const edges = Array.from({ length: 100_000 }, (_, nth) => ({
    cause: `${nth}`,
    job: `${nth + 1}`,
  }))
  const path = findFollowCircle('0', ['100000'], edges)
  assert.equal(path?.length, 100_002)
})
