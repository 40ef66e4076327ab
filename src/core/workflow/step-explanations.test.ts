import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileGraph } from './graph.ts'
import { criticalPath, type TimedFact } from './critical-path.ts'
import { itemCounts } from '../flow/item-counts.ts'
import { readFact, readSteps } from './scripted-workflow.fixture.ts'
import { whySkipped } from './explain-skip.ts'

/** `a ok 0-5`: from when to when; a step that is not over has no second time. */
function timed(names: readonly string[], story: string): TimedFact[] {
  return story.split('; ').map((line) => {
    const words = line.split(' ')
    const [startedAt, finishedAt] = (words.pop() as string).split('-').map(Number)
    const fact = readFact(names, words.join(' '))
    return { ...fact, startedAt: startedAt as number, finishedAt: finishedAt ?? null }
  })
}

describe('the critical path', () => {
  const TABLE: [why: string, steps: string[], story: string, path: string][] = [
    [
      'goes back over the need that was over last',
      ['a', 'b', 'c: a b', 'd: a'],
      'a ok 0-5; b ok 0-9; c ok 9-12; d ok 5-6',
      'b c',
    ],
    [
      'goes over the need that made an early rule come true',
      ['a', 'b', 'c: a b, any-succeeded'],
      'a ok 0-3; b ok 0-5; c ok 3-20',
      'a c',
    ],
    [
      'goes from a finally step to what was over last of all the others',
      ['a', 'b', 'last, finally'],
      'a ok 0-5; b failed 0-7; last ok 7-8',
      'b last',
    ],
    [
      'passes through what was skipped',
      ['a', 'b: a', 'c: b, all-done'],
      'a failed 0-5; b skipped needs 5-5; c ok 5-9',
      'a c',
    ],
    [
      'has all that began and ended within the same millisecond',
      ['a', 'b: a', 'c: b a', 'd: c b a'],
      'a ok 0-5; b ok 5-5; c ok 5-5; d ok 5-5',
      'a b c d',
    ],
    ['of a flow that has just begun is empty', ['a', 'b: a'], 'a running 0', ''],
  ]
  for (const [why, lines, story, path] of TABLE) {
    test(why, () => {
      const { names, steps } = readSteps(lines)
      const facts = new Map(timed(names, story).map((fact) => [fact.step, fact]))
      const critical = criticalPath(compileGraph(steps), (step) => facts.get(step))
      assert.equal(critical.map((step) => names[step]).join(' '), path)
    })
  }
})

test('items that nobody counted have not been reached', () => {
  const counted = [
    { state: 'succeeded', count: 1 },
    { state: 'failed', count: 1 },
    { state: 'running', count: 1 },
  ] as const
  assert.deepEqual(itemCounts(5, counted), {
    ...{ running: 1, waiting: 0, succeeded: 1, failed: 1, cancelled: 0, skipped: 0 },
    untouched: 2,
  })
})

describe('why a step was skipped', () => {
  const TABLE: [why: string, steps: string[], story: string, step: string, tells: string][] = [
    [
      'names the need that failed, and not the one that did not',
      ['a', 'b', 'c: a b'],
      'a ok; b failed; c skipped needs',
      'c',
      'all-succeeded because b, from b',
    ],
    [
      'goes back to where it began',
      ['a', 'b: a', 'c: b', 'd: c'],
      'a cancelled; b skipped needs; c skipped needs; d skipped needs',
      'd',
      'all-succeeded because c, from a',
    ],
    [
      'names all that did not fail where a failure was wanted',
      ['a', 'b', 'c: a b, any-failed'],
      'a ok; b skipped condition; c skipped needs',
      'c',
      'any-failed because a b, from a b',
    ],
    [
      'looks at all steps for a finally step without needs',
      ['a', 'b', 'cheers, finally, all-succeeded'],
      'a ok; b failed; cheers skipped needs',
      'cheers',
      'all-succeeded because b, from b',
    ],
    [
      'names nobody where there was nobody to choose from',
      ['a, any-succeeded'],
      'a skipped needs',
      'a',
      'any-succeeded because nobody, from nobody',
    ],
  ]
  for (const [why, lines, story, step, tells] of TABLE) {
    test(why, () => {
      const { names, steps } = readSteps(lines)
      const facts = new Map(
        story.split('; ').map((line) => {
          const fact = readFact(names, line)
          return [fact.step, fact]
        }),
      )
      const found = whySkipped(compileGraph(steps), (at) => facts.get(at), names.indexOf(step))
      const list = (places: readonly number[]) =>
        places.map((place) => names[place]).join(' ') || 'nobody'
      assert.equal(`${found.when} because ${list(found.needs)}, from ${list(found.origins)}`, tells)
    })
  }
})
