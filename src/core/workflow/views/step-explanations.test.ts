import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileGraph } from '../graph.ts'
import { criticalPath, type TimedFact } from './critical-path.ts'
import { itemCounts } from '../progress/fan-out.ts'
import { parseFact, parseSteps } from '../progress/scripted-workflow.fixture.ts'
import { explainSkip } from './explain-skip.ts'

/** `a ok 0-5`: the start and the end; a step that has not ended has no end. */
function timed(names: readonly string[], history: string): TimedFact[] {
  return history.split('; ').map((line) => {
    const words = line.split(' ')
    const [startedAt, finishedAt] = (words.pop() as string).split('-').map(Number)
    const fact = parseFact(names, words.join(' '))
    return { ...fact, startedAt: startedAt as number, finishedAt: finishedAt ?? null }
  })
}

describe('criticalPath', () => {
  const TABLE: [why: string, steps: string[], history: string, path: string][] = [
    [
      'goes back over the need that ended last',
      ['a', 'b', 'c: a b', 'd: a'],
      'a ok 0-5; b ok 0-9; c ok 9-12; d ok 5-6',
      'b c',
    ],
    [
      'goes over the need that met an early rule',
      ['a', 'b', 'c: a b, any-succeeded'],
      'a ok 0-3; b ok 0-5; c ok 3-20',
      'a c',
    ],
    [
      'goes from a finally step to the ordinary step that ended last',
      ['a', 'b', 'last, finally'],
      'a ok 0-5; b failed 0-7; last ok 7-8',
      'b last',
    ],
    [
      'passes through skipped steps',
      ['a', 'b: a', 'c: b, all-done'],
      'a failed 0-5; b skipped needs 5-5; c ok 5-9',
      'a c',
    ],
    [
      'contains all steps within the same millisecond',
      ['a', 'b: a', 'c: b a', 'd: c b a'],
      'a ok 0-5; b ok 5-5; c ok 5-5; d ok 5-5',
      'a b c d',
    ],
    ['is empty for a workflow that has just begun', ['a', 'b: a'], 'a running 0', ''],
  ]
  for (const [why, lines, history, path] of TABLE) {
    test(why, () => {
      const { names, steps } = parseSteps(lines)
      const facts = new Map(timed(names, history).map((fact) => [fact.step, fact]))
      const critical = criticalPath(compileGraph(steps), (step) => facts.get(step))
      assert.equal(critical.map((step) => names[step]).join(' '), path)
    })
  }
})

test('items without a count have not been reached', () => {
  const counted = [
    { state: 'succeeded', count: 1 },
    { state: 'failed', count: 1 },
    { state: 'running', count: 1 },
  ] as const
  assert.deepEqual(itemCounts(5, counted), {
    running: 1,
    waiting: 0,
    succeeded: 1,
    failed: 1,
    cancelled: 0,
    skipped: 0,
    untouched: 2,
  })
})

describe('explainSkip', () => {
  const TABLE: [why: string, steps: string[], history: string, step: string, expected: string][] = [
    [
      'names the need that failed, and not the one that did not',
      ['a', 'b', 'c: a b'],
      'a ok; b failed; c skipped needs',
      'c',
      'all-succeeded because b, from b',
    ],
    [
      'goes back to the root cause',
      ['a', 'b: a', 'c: b', 'd: c'],
      'a cancelled; b skipped needs; c skipped needs; d skipped needs',
      'd',
      'all-succeeded because c, from a',
    ],
    [
      'names all steps that did not fail when the rule needs a failure',
      ['a', 'b', 'c: a b, any-failed'],
      'a ok; b skipped condition; c skipped needs',
      'c',
      'any-failed because a b, from a b',
    ],
    [
      'checks all steps for a finally step without needs',
      ['a', 'b', 'cheers, finally, all-succeeded'],
      'a ok; b failed; cheers skipped needs',
      'cheers',
      'all-succeeded because b, from b',
    ],
    [
      'names no steps if there are no needs',
      ['a, any-succeeded'],
      'a skipped needs',
      'a',
      'any-succeeded because none, from none',
    ],
  ]
  for (const [why, lines, history, step, expected] of TABLE) {
    test(why, () => {
      const { names, steps } = parseSteps(lines)
      const facts = new Map(
        history.split('; ').map((line) => {
          const fact = parseFact(names, line)
          return [fact.step, fact]
        }),
      )
      const found = explainSkip(compileGraph(steps), (at) => facts.get(at), names.indexOf(step))
      const list = (places: readonly number[]) =>
        places.map((place) => names[place]).join(' ') || 'none'
      assert.equal(
        `${found.when} because ${list(found.needs)}, from ${list(found.origins)}`,
        expected,
      )
    })
  }
})
