import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileGraph } from '../graph.ts'
import { createWorkflowProgress } from './progress.ts'
import { scriptWorkflow } from './scripted-workflow.fixture.ts'

interface Story {
  readonly why: string
  readonly steps: readonly string[]
  /** The facts, and the decisions that follow. */
  readonly tale: readonly (readonly [input: string, decisions: string])[]
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
    why: 'a step that may fail does not fail the workflow, but does not count as a success',
    steps: ['a, may fail', 'b: a', 'c: a, any-failed'],
    tale: [
      ['', 'start a'],
      ['a failed', 'skip b needs, start c'],
      ['c ok', 'end succeeded'],
    ],
  },
  {
    why: 'a failure handler does not undo the failure',
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
    why: 'a cancelled step counts as failed',
    steps: ['a', 'b: a', 'c: a, any-failed'],
    tale: [
      ['', 'start a'],
      ['a cancelled', 'skip b needs, start c'],
      ['c ok', 'end failed error'],
    ],
  },
  {
    why: 'rules of a step without needs',
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
    why: 'the rule of a finally step without needs applies to all ordinary steps',
    steps: ['a', 'b: a', 'alarm, finally, any-failed', 'cheers, finally, all-succeeded'],
    tale: [
      ['', 'start a'],
      ['a failed', 'skip b needs, start alarm, skip cheers needs'],
      ['alarm ok', 'end failed error'],
    ],
  },
  {
    why: 'a finally step waits for all ordinary steps even if its needs are decided',
    steps: ['a', 'b', 'last: a, finally, any-succeeded'],
    tale: [
      ['', 'start a, start b'],
      ['a ok', ''],
      ['b ok', 'start last'],
    ],
  },
  {
    why: 'a failed finally step fails the workflow',
    steps: ['a', 'last, finally'],
    tale: [
      ['', 'start a'],
      ['a ok', 'start last'],
      ['last failed expression', 'end failed error'],
    ],
  },
  {
    why: 'a fan-out runs max_parallel items at a time, and its successor after all of them',
    steps: ['a, max 2', 'b: a'],
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
    why: 'an empty fan-out succeeds',
    steps: ['a', 'b: a'],
    tale: [
      ['', 'start a'],
      ['a of 0', 'close a succeeded, start b'],
    ],
  },
  {
    why: 'a fan-out with a failed item runs the others and fails',
    steps: ['a, max 1', 'b: a'],
    tale: [
      ['', 'start a'],
      ['a of 2', 'start a.0'],
      ['a.0 failed', 'start a.1'],
      ['a.1 ok', 'close a failed, skip b needs, end failed error'],
    ],
  },
  {
    why: 'several fan-outs take turns',
    steps: ['a', 'b'],
    tale: [
      ['', 'start a, start b'],
      ['a of 2; b of 2', 'start a.0, start b.0, start a.1, start b.1'],
    ],
  },
  {
    why: 'an item that a user skipped is as good as done',
    steps: ['a, max 1'],
    tale: [
      ['', 'start a'],
      ['a of 3', 'start a.0'],
      ['a.2 skipped operator', ''],
      ['a.0 ok', 'start a.1'],
      ['a.1 ok', 'close a succeeded, end succeeded'],
    ],
  },
  {
    why: 'a step that a user skipped before its time is as good as done',
    steps: ['a', 'b: a', 'c: b'],
    tale: [
      ['', 'start a'],
      ['b skipped operator', 'start c'],
      ['a failed', ''],
      ['c ok', 'end failed error'],
    ],
  },
  {
    why: 'a granted approval continues, a refused or expired one does not',
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
    why: 'a cancelled workflow starts only clean-up steps, and ends after them',
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
    why: 'a timed-out workflow fails, and the first reason is kept',
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
    why: 'a cancelled workflow does not wait for approvals',
    steps: ['a', 'b: a'],
    tale: [
      ['', 'start a'],
      ['a waiting; stop cancelled', 'close a cancelled, skip b cancelled, end cancelled cancelled'],
    ],
  },
  {
    why: 'a cancelled fan-out starts no further items and waits for running ones',
    steps: ['a, max 1'],
    tale: [
      ['', 'start a'],
      ['a of 3', 'start a.0'],
      ['a.0 running; stop cancelled', ''],
      ['a.0 ok', 'close a cancelled, end cancelled cancelled'],
    ],
  },
  {
    why: 'a workflow cancelled before its first step runs its clean-up steps',
    steps: ['a', 'last, finally'],
    tale: [
      ['stop cancelled', 'skip a cancelled, start last'],
      ['last failed', 'end cancelled cancelled'],
    ],
  },
]

describe('a scripted workflow', () => {
  for (const { why, steps, tale } of STORIES) {
    test(why, () => {
      const workflow = scriptWorkflow(steps)
      for (const [input, decisions] of tale) {
        const facts = input.split('; ').filter(Boolean)
        assert.equal(workflow.after(...facts).join(', '), decisions, `after ${input}`)
      }
    })
  }
})

test('decisions without a recorded result are made again after the facts are reloaded', () => {
  const workflow = scriptWorkflow(['a', 'b', 'c: a b'])
  assert.deepEqual(workflow.after(), ['start a', 'start b'])
  assert.deepEqual(workflow.after('a running'), [])
  assert.deepEqual(workflow.reloaded().after(), ['start b'])
})

test('a stopped workflow lists the runs to cancel', () => {
  const workflow = scriptWorkflow(['a', 'b, always', 'c, max 2', 'd: a'])
  workflow.after()
  workflow.after('a running', 'b running', 'c of 3')
  workflow.after('c.0 running', 'c.1 running')
  assert.deepEqual([...workflow.progress.unwanted()], [])
  workflow.after('stop cancelled', 'c.0 ok')
  assert.deepEqual(
    [...workflow.progress.unwanted()].map(({ step, item }) => [step, item]),
    [
      [0, -1],
      [2, 1],
    ],
  )
})

test('a step that has begun cannot be skipped', () => {
  const workflow = scriptWorkflow(['a', 'b', 'c: a', 'd, max 1'])
  workflow.after()
  workflow.after('a running', 'b waiting', 'd of 2')
  const { progress } = workflow
  const skippable = [0, 1, 2, 3].filter((step) => progress.isSkippable(step, -1))
  assert.deepEqual(skippable, [1, 2])
  assert.deepEqual([progress.isSkippable(3, 0), progress.isSkippable(3, 1)], [false, true])
})

test('rejects a graph that would wait forever', () => {
  const plain = { when: 'always', isFinally: false, maxParallel: null, mayFail: false } as const
  assert.throws(() => compileGraph([{ ...plain, needs: [0] }]), /cycle/)
  assert.throws(
    () =>
      compileGraph([
        { ...plain, needs: [1] },
        { ...plain, needs: [], isFinally: true },
      ]),
    /waits for a finally step/,
  )
})

describe('100,000 steps', () => {
  const MANY = 100_000
  const plain = {
    needs: [],
    when: 'all-succeeded',
    isFinally: false,
    maxParallel: null,
    mayFail: false,
  } as const

  test('skips steps in a chain a thousand at a time, without recursion', () => {
    const steps = Array.from({ length: MANY }, (_, step) => ({
      ...plain,
      needs: step === 0 ? [] : [step - 1],
    }))
    const progress = createWorkflowProgress(compileGraph(steps))
    assert.equal(progress.next(1_000).length, 1)
    progress.apply({ step: 0, item: -1, state: 'failed', reason: null, count: null })
    let skipped = 0
    for (;;) {
      const decisions = progress.next(1_000)
      assert.ok(decisions.length <= 1_000)
      skipped += decisions.filter(({ to }) => to === 'skip').length
      if (decisions.at(-1)?.to === 'end') break
    }
    assert.equal(skipped, MANY - 1)
  })

  test('starts items a thousand at a time and counts them', () => {
    const progress = createWorkflowProgress(compileGraph([plain]))
    progress.next(1_000)
    progress.apply({ step: 0, item: -1, state: 'running', reason: null, count: MANY })
    let started = 0
    for (let decisions = progress.next(1_000); decisions.length > 0;) {
      started += decisions.length
      decisions = progress.next(1_000)
    }
    assert.equal(started, MANY)
    for (let item = 0; item < MANY; item += 1) {
      progress.apply({ step: 0, item, state: 'succeeded', reason: null, count: null })
    }
    assert.deepEqual(
      progress.next(1_000).map(({ to }) => to),
      ['close', 'end'],
    )
  })
})
