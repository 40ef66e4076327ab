import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileGraph } from './graph.ts'
import { createProgress } from './progress.ts'
import { tellFlow } from './scripted-workflow.fixture.ts'

interface Story {
  readonly why: string
  readonly steps: readonly string[]
  /** What is heard, and what is decided then. */
  readonly tale: readonly (readonly [news: string, decisions: string])[]
}

const STORIES: readonly Story[] = [
  {
    why: 'a chain runs from top to bottom',
    steps: ['a', 'b: a', 'c: b'],
    tale: [
      ['', 'start a'],
      ['a running', ''],
      ['a ok', 'start b'],
      ['b running; b ok', 'start c'],
      ['c ok', 'end succeeded'],
    ],
  },
  {
    why: 'a join waits for the last, and starts once',
    steps: ['a', 'b', 'c: a b'],
    tale: [
      ['', 'start a, start b'],
      ['a ok', ''],
      ['b ok', 'start c'],
      ['b ok; a ok', ''],
      ['c ok', 'end succeeded'],
    ],
  },
  {
    why: 'what needs a step that failed is skipped at once, and so is what needs that',
    steps: ['a', 'b', 'c: a b', 'd: c'],
    tale: [
      ['', 'start a, start b'],
      ['a failed', 'skip c needs, skip d needs'],
      ['b ok', 'end failed error'],
    ],
  },
  {
    why: 'a step that may fail does not make the flow fail, but is no success for others',
    steps: ['a, may fail', 'b: a', 'c: a, any-failed'],
    tale: [
      ['', 'start a'],
      ['a failed', 'skip b needs, start c'],
      ['c ok', 'end succeeded'],
    ],
  },
  {
    why: 'a handler of failures does not undo them',
    steps: ['a', 'b: a, any-failed'],
    tale: [
      ['', 'start a'],
      ['a failed', 'start b'],
      ['b ok', 'end failed error'],
    ],
  },
  {
    why: 'a handler of failures that did not happen is skipped',
    steps: ['a', 'b', 'c: a b, any-failed'],
    tale: [
      ['', 'start a, start b'],
      ['a ok', ''],
      ['b ok', 'skip c needs, end succeeded'],
    ],
  },
  {
    why: 'any-failed and any-succeeded do not wait for the rest',
    steps: ['a', 'b', 'c: a b, any-failed', 'd: a b, any-succeeded'],
    tale: [
      ['', 'start a, start b'],
      ['a ok', 'start d'],
      ['b failed', 'start c'],
      ['c ok; d ok', 'end failed error'],
    ],
  },
  {
    why: 'a step skipped by its own condition is as good as done',
    steps: ['a', 'b: a', 'c: b', 'd: b, any-failed'],
    tale: [
      ['', 'start a'],
      ['a skipped condition', 'start b'],
      ['b skipped condition', 'start c, skip d needs'],
      ['c ok', 'end succeeded'],
    ],
  },
  {
    why: 'a step skipped because of others is neither done nor failed',
    steps: [
      'a, may fail',
      'b: a',
      'c: b',
      'd: b, none-failed',
      'e: b, all-done',
      'f: b, any-failed',
    ],
    tale: [
      ['', 'start a'],
      ['a failed', 'skip b needs, skip c needs, start d, start e, skip f needs'],
      ['d ok; e ok', 'end succeeded'],
    ],
  },
  {
    why: 'a step that was cancelled by itself counts as failed',
    steps: ['a', 'b: a', 'c: a, any-failed'],
    tale: [
      ['', 'start a'],
      ['a cancelled', 'skip b needs, start c'],
      ['c ok', 'end failed error'],
    ],
  },
  {
    why: 'nothing fails or succeeds where nothing is needed',
    steps: ['a, any-failed', 'b, any-succeeded', 'c, none-failed', 'd, always'],
    tale: [
      ['', 'skip a needs, skip b needs, start c, start d'],
      ['c ok; d ok', 'end succeeded'],
    ],
  },
  {
    why: 'a finally step waits for everything, however it ended, and only then for its own needs',
    steps: ['a', 'b', 'last, finally', 'later: last, finally, all-succeeded'],
    tale: [
      ['', 'start a, start b'],
      ['a failed', ''],
      ['b ok', 'start last'],
      ['last ok', 'start later'],
      ['later ok', 'end failed error'],
    ],
  },
  {
    why: 'the rule of a finally step without needs is about all the others',
    steps: ['a', 'b: a', 'alarm, finally, any-failed', 'cheers, finally, all-succeeded'],
    tale: [
      ['', 'start a'],
      ['a failed', 'skip b needs, start alarm, skip cheers needs'],
      ['alarm ok', 'end failed error'],
    ],
  },
  {
    why: 'a finally step is not early because its needs are decided early',
    steps: ['a', 'b', 'last: a, finally, any-succeeded'],
    tale: [
      ['', 'start a, start b'],
      ['a ok', ''],
      ['b ok', 'start last'],
    ],
  },
  {
    why: 'a finally step that fails makes the flow fail',
    steps: ['a', 'last, finally'],
    tale: [
      ['', 'start a'],
      ['a ok', 'start last'],
      ['last failed expression', 'end failed error'],
    ],
  },
  {
    why: 'the items of a fan-out run so many at a time, and its successor when all are done',
    steps: ['a, most 2', 'b: a'],
    tale: [
      ['', 'start a'],
      ['a of 3', 'start a.0, start a.1'],
      ['a.0 running; a.1 running', ''],
      ['a.1 ok', 'start a.2'],
      ['a.1 ok', ''],
      ['a.0 ok', ''],
      ['a.2 ok', 'close a succeeded, start b'],
      ['b ok', 'end succeeded'],
    ],
  },
  {
    why: 'a fan-out over nothing is done',
    steps: ['a', 'b: a'],
    tale: [
      ['', 'start a'],
      ['a of 0', 'close a succeeded, start b'],
    ],
  },
  {
    why: 'a fan-out with an item that failed goes on with the others, and fails',
    steps: ['a, most 1', 'b: a'],
    tale: [
      ['', 'start a'],
      ['a of 2', 'start a.0'],
      ['a.0 failed', 'start a.1'],
      ['a.1 ok', 'close a failed, skip b needs, end failed error'],
    ],
  },
  {
    why: 'several fan-outs start by turns',
    steps: ['a', 'b'],
    tale: [
      ['', 'start a, start b'],
      ['a of 2; b of 2', 'start a.0, start b.0, start a.1, start b.1'],
    ],
  },
  {
    why: 'an item that somebody skipped is as good as done',
    steps: ['a, most 1'],
    tale: [
      ['', 'start a'],
      ['a of 3', 'start a.0'],
      ['a.2 skipped operator', ''],
      ['a.0 ok', 'start a.1'],
      ['a.1 ok', 'close a succeeded, end succeeded'],
    ],
  },
  {
    why: 'a step that somebody skipped before its time is as good as done',
    steps: ['a', 'b: a', 'c: b'],
    tale: [
      ['', 'start a'],
      ['b skipped operator', 'start c'],
      ['a failed', ''],
      ['c ok', 'end failed error'],
    ],
  },
  {
    why: 'an approval that is given goes on, one that is refused or expires does not',
    steps: ['a', 'b', 'c', 'd: a', 'e: b', 'f: c'],
    tale: [
      ['', 'start a, start b, start c'],
      ['a waiting; b waiting; c waiting', ''],
      ['a ok', 'start d'],
      ['b failed refused', 'skip e needs'],
      ['c failed expired', 'skip f needs'],
      ['d ok', 'end failed error'],
    ],
  },
  {
    why: 'a cancelled flow starts nothing but what clears up, and ends when all is over',
    steps: ['a', 'b: a', 'c: a, always', 'd: a, all-done', 'last, finally'],
    tale: [
      ['', 'start a'],
      ['a running; stop cancelled', 'skip b cancelled, skip d cancelled'],
      ['a cancelled', 'start c'],
      ['c ok', 'start last'],
      ['last ok', 'end cancelled cancelled'],
    ],
  },
  {
    why: 'a flow out of time has failed, and the first reason stays',
    steps: ['a', 'b: a'],
    tale: [
      ['', 'start a'],
      ['a running; stop timeout', 'skip b timeout'],
      ['stop cancelled', ''],
      ['a cancelled', 'end failed timeout'],
    ],
  },
  {
    why: 'a stop that came too late to keep anything from running changes nothing',
    steps: ['a'],
    tale: [
      ['', 'start a'],
      ['a running; stop cancelled', ''],
      ['a ok', 'end succeeded'],
    ],
  },
  {
    why: 'a cancelled flow does not wait for approvals',
    steps: ['a', 'b: a'],
    tale: [
      ['', 'start a'],
      ['a waiting; stop cancelled', 'close a cancelled, skip b cancelled, end cancelled cancelled'],
    ],
  },
  {
    why: 'a cancelled fan-out starts no further items and waits for those under way',
    steps: ['a, most 1'],
    tale: [
      ['', 'start a'],
      ['a of 3', 'start a.0'],
      ['a.0 running; stop cancelled', ''],
      ['a.0 ok', 'close a cancelled, end cancelled cancelled'],
    ],
  },
  {
    why: 'a flow cancelled before anything began runs what clears up',
    steps: ['a', 'last, finally'],
    tale: [
      ['stop cancelled', 'skip a cancelled, start last'],
      ['last failed', 'end cancelled cancelled'],
    ],
  },
]

describe('a flow as it is told', () => {
  for (const { why, steps, tale } of STORIES) {
    test(why, () => {
      const flow = tellFlow(steps)
      for (const [news, decisions] of tale) {
        const heard = news.split('; ').filter(Boolean)
        assert.equal(flow.after(...heard).join(', '), decisions, `after ${news}`)
      }
    })
  }
})

test('what was handed out and never answered is handed out again by whoever reads the facts', () => {
  const flow = tellFlow(['a', 'b', 'c: a b'])
  assert.deepEqual(flow.after(), ['start a', 'start b'])
  assert.deepEqual(flow.after('a running'), [])
  assert.deepEqual(flow.reloaded().after(), ['start b'])
})

test('a stopped flow says what shall not go on', () => {
  const flow = tellFlow(['a', 'b, always', 'c, most 2', 'd: a'])
  flow.after()
  flow.after('a running', 'b running', 'c of 3')
  flow.after('c.0 running', 'c.1 running')
  assert.deepEqual([...flow.progress.unwanted()], [])
  flow.after('stop cancelled', 'c.0 ok')
  assert.deepEqual(
    [...flow.progress.unwanted()].map(({ step, item }) => [step, item]),
    [
      [0, -1],
      [2, 1],
    ],
  )
})

test('what has begun can no longer be skipped', () => {
  const flow = tellFlow(['a', 'b', 'c: a', 'd, most 1'])
  flow.after()
  flow.after('a running', 'b waiting', 'd of 2')
  const { progress } = flow
  const skippable = [0, 1, 2, 3].filter((step) => progress.isSkippable(step, -1))
  assert.deepEqual(skippable, [1, 2])
  assert.deepEqual([progress.isSkippable(3, 0), progress.isSkippable(3, 1)], [false, true])
})

test('graphs that would wait for ever are refused', () => {
  const plain = { when: 'always', isFinally: false, maxParallel: null, mayFail: false } as const
  assert.throws(() => compileGraph([{ ...plain, needs: [0] }]), /circle/)
  assert.throws(
    () =>
      compileGraph([
        { ...plain, needs: [1] },
        { ...plain, needs: [], isFinally: true },
      ]),
    /waits for a finally step/,
  )
})

describe('100,000', () => {
  const MANY = 100_000
  const plain = {
    needs: [],
    when: 'all-succeeded',
    isFinally: false,
    maxParallel: null,
    mayFail: false,
  } as const

  test('steps in a row are skipped a thousand at a time, without recursion', () => {
    const steps = Array.from({ length: MANY }, (_, step) => ({
      ...plain,
      needs: step === 0 ? [] : [step - 1],
    }))
    const progress = createProgress(compileGraph(steps))
    assert.equal(progress.next(1_000).length, 1)
    progress.hear({ step: 0, item: -1, state: 'failed', reason: null, count: null })
    let skipped = 0
    for (;;) {
      const decisions = progress.next(1_000)
      assert.ok(decisions.length <= 1_000)
      skipped += decisions.filter(({ to }) => to === 'skip').length
      if (decisions.at(-1)?.to === 'end') break
    }
    assert.equal(skipped, MANY - 1)
  })

  test('items are started a thousand at a time, and counted', () => {
    const progress = createProgress(compileGraph([plain]))
    progress.next(1_000)
    progress.hear({ step: 0, item: -1, state: 'running', reason: null, count: MANY })
    let started = 0
    for (let decisions = progress.next(1_000); decisions.length > 0;) {
      started += decisions.length
      decisions = progress.next(1_000)
    }
    assert.equal(started, MANY)
    for (let item = 0; item < MANY; item += 1) {
      progress.hear({ step: 0, item, state: 'succeeded', reason: null, count: null })
    }
    assert.deepEqual(
      progress.next(1_000).map(({ to }) => to),
      ['close', 'end'],
    )
  })
})
