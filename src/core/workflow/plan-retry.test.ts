import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type StepFact, WHOLE } from './step-facts.ts'
import { compileGraph } from './graph.ts'
import { createProgress } from './progress.ts'
import { planRetry, type RetryWish } from './plan-retry.ts'
import { readFact, readSteps, tellFlow } from './scripted-workflow.fixture.ts'

interface Case {
  readonly why: string
  readonly steps: readonly string[]
  /** What had become of the flow. */
  readonly was: string
  readonly wish: { readonly failed?: boolean; readonly from?: string; readonly skip?: string }
  /** What is known from the beginning, and what is decided first. */
  readonly kept: string
  readonly first: string
}

const TABLE: readonly Case[] = [
  {
    why: 'what failed runs again, and what was skipped because of it waits for it again',
    steps: ['a', 'b: a', 'c: b', 'd: a'],
    was: 'a ok; b failed; c skipped needs; d ok',
    wish: { failed: true },
    kept: 'a d',
    first: 'start b',
  },
  {
    why: 'what ran because something failed is judged again',
    steps: ['a', 'alarm: a, any-failed', 'b'],
    was: 'a failed; alarm ok; b ok',
    wish: { failed: true },
    kept: 'b',
    first: 'start a',
  },
  {
    why: 'what was skipped for reasons of its own stays skipped',
    steps: ['a', 'b: a', 'alarm: a, any-failed', 'c'],
    was: 'a ok; b skipped condition; alarm skipped needs; c failed',
    wish: { failed: true },
    kept: 'a b alarm',
    first: 'start c',
  },
  {
    why: 'a flow that was cancelled goes on where it was stopped',
    steps: ['a', 'b: a', 'c: b', 'd: c'],
    was: 'a ok; b cancelled; c skipped cancelled; d skipped timeout',
    wish: { failed: true },
    kept: 'a',
    first: 'start b',
  },
  {
    why: 'of a fan-out only what is not done runs again, and items nobody had reached',
    steps: ['a', 'b: a', 'c: b'],
    was: 'a ok; b cancelled of 4; b.0 ok; b.1 failed; b.2 skipped operator; c skipped needs',
    wish: { failed: true },
    kept: 'a b b.0 b.2',
    first: 'start b.1, start b.3',
  },
  {
    why: 'a fan-out whose list comes from a step that runs again starts from nothing',
    steps: ['a, may fail', 'b: a, all-done'],
    was: 'a failed; b failed of 2; b.0 ok; b.1 failed',
    wish: { failed: true },
    kept: '',
    first: 'start a',
  },
  {
    why: 'a fan-out that never had a list starts from nothing',
    steps: ['a'],
    was: 'a failed expression',
    wish: { failed: true },
    kept: '',
    first: 'start a',
  },
  {
    why: 'finally steps run again after anything else that does',
    steps: ['a', 'b', 'last, finally'],
    was: 'a ok; b failed; last ok',
    wish: { failed: true },
    kept: 'a',
    first: 'start b',
  },
  {
    why: 'a finally step that failed alone runs again alone, with what waits for it',
    steps: ['a', 'last, finally', 'other, finally', 'later: last, finally'],
    was: 'a ok; last failed; other ok; later ok',
    wish: { failed: true },
    kept: 'a other',
    first: 'start last',
  },
  {
    why: 'from a step on, everything that depends on it, directly or not',
    steps: ['a', 'b: a', 'c: b', 'd: a', 'e: d c'],
    was: 'a ok; b ok; c ok; d ok; e ok',
    wish: { from: 'b' },
    kept: 'a d',
    first: 'start b',
  },
  {
    why: 'from a step on, a failure elsewhere stays what it is',
    steps: ['a', 'b', 'c: a'],
    was: 'a ok; b failed; c ok',
    wish: { from: 'a' },
    kept: 'b',
    first: 'start a',
  },
  {
    why: 'from a step on, what a stop had cut short goes on as well',
    steps: ['a', 'b', 'c: b', 'd'],
    was: 'a ok; b cancelled; c skipped cancelled; d failed',
    wish: { from: 'a' },
    kept: 'd',
    first: 'start a, start b',
  },
  {
    why: 'from a fan-out on, all its items',
    steps: ['a', 'b: a'],
    was: 'a ok; b succeeded of 2; b.0 ok; b.1 ok',
    wish: { from: 'b' },
    kept: 'a',
    first: 'start b',
  },
  {
    why: 'what failed and is skipped now lets others start',
    steps: ['a', 'b: a', 'c: b', 'd'],
    was: 'a failed; b skipped needs; c skipped needs; d failed',
    wish: { failed: true, skip: 'a' },
    kept: '',
    first: 'start d, start b',
  },
  {
    why: 'where nothing failed there is nothing to do again',
    steps: ['a', 'b: a, any-failed'],
    was: 'a ok; b skipped needs',
    wish: { failed: true },
    kept: 'a b',
    first: 'end succeeded',
  },
]

describe('what a retry keeps', () => {
  for (const { why, steps: lines, was, wish, kept, first } of TABLE) {
    test(why, () => {
      const { names, steps } = readSteps(lines)
      const facts = was.split('; ').map((line) => readFact(names, line))
      const indices = (words = '') =>
        words
          .split(' ')
          .filter(Boolean)
          .map((name) => names.indexOf(name))
      const asked: RetryWish = {
        failed: wish.failed,
        from: indices(wish.from),
        skip: indices(wish.skip),
      }
      const plan = planRetry(compileGraph(steps), facts, asked)
      const places = plan.kept.map(({ step, item }) => names[step] + (item < 0 ? '' : `.${item}`))
      assert.equal(places.join(' '), kept)
      const flow = tellFlow(lines, plan.kept)
      const skips = indices(wish.skip).map((step) => `${names[step]} skipped operator`)
      assert.equal(flow.after(...skips).join(', '), first)
    })
  }
})

test('of 1,000 items with 7 failures exactly 7 run again, and what depends on them', () => {
  const { steps } = readSteps(['list', 'load: list', 'other: list', 'report: load', 'mail: report'])
  const graph = compileGraph(steps)
  const bad = new Set([0, 13, 14, 500, 501, 998, 999])
  const fact = (step: number, item: number, more: Partial<StepFact> = {}): StepFact => ({
    ...{ step, item, state: 'succeeded', reason: null, count: null },
    ...more,
  })
  const facts = [
    fact(0, WHOLE),
    fact(1, WHOLE, { state: 'failed', count: 1_000 }),
    ...Array.from({ length: 1_000 }, (_, item) =>
      fact(1, item, bad.has(item) ? { state: 'failed' } : {}),
    ),
    fact(2, WHOLE),
    fact(3, WHOLE, { state: 'skipped', reason: 'needs' }),
    fact(4, WHOLE, { state: 'skipped', reason: 'needs' }),
  ]
  const plan = planRetry(graph, facts, { failed: true })
  assert.deepEqual([plan.again, plan.takenUp], [[3, 4], [1]])
  const progress = createProgress(graph, plan.kept)
  const started: string[] = []
  for (let decisions = progress.next(100); decisions.length > 0; decisions = progress.next(100)) {
    for (const decision of decisions) {
      if (decision.to !== 'start') continue
      started.push(`${decision.step}.${decision.item}`)
      progress.hear(fact(decision.step, decision.item))
    }
  }
  assert.deepEqual(started, [...[...bad].map((item) => `1.${item}`), '3.-1', '4.-1'])
})
