import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type StepFact, WHOLE_STEP } from './step-facts.ts'
import { compileGraph } from '../graph.ts'
import { createWorkflowProgress } from './progress.ts'
import { planRetry, type RetryScope } from './plan-retry.ts'
import { parseFact, parseSteps, scriptWorkflow } from './scripted-workflow.fixture.ts'

interface Case {
  readonly why: string
  readonly steps: readonly string[]
  /** The facts of the ended workflow. */
  readonly was: string
  readonly scope: { readonly failed?: boolean; readonly from?: string; readonly skip?: string }
  /** The facts that the retry starts with, and its first decisions. */
  readonly kept: string
  readonly first: string
}

const TABLE: readonly Case[] = [
  {
    why: 'what failed runs again, and what was skipped because of it waits for it again',
    steps: ['a', 'b: a', 'c: b', 'd: a'],
    was: 'a ok; b failed; c skipped needs; d ok',
    scope: { failed: true },
    kept: 'a d',
    first: 'start b',
  },
  {
    why: 'a failure handler is decided again',
    steps: ['a', 'alarm: a, any-failed', 'b'],
    was: 'a failed; alarm ok; b ok',
    scope: { failed: true },
    kept: 'b',
    first: 'start a',
  },
  {
    why: 'what was skipped for reasons of its own stays skipped',
    steps: ['a', 'b: a', 'alarm: a, any-failed', 'c'],
    was: 'a ok; b skipped condition; alarm skipped needs; c failed',
    scope: { failed: true },
    kept: 'a b alarm',
    first: 'start c',
  },
  {
    why: 'a cancelled workflow continues where it was stopped',
    steps: ['a', 'b: a', 'c: b', 'd: c'],
    was: 'a ok; b cancelled; c skipped cancelled; d skipped timeout',
    scope: { failed: true },
    kept: 'a',
    first: 'start b',
  },
  {
    why: 'a fan-out runs only its failed and untouched items again',
    steps: ['a', 'b: a', 'c: b'],
    was: 'a ok; b cancelled of 4; b.0 ok; b.1 failed; b.2 skipped operator; c skipped needs',
    scope: { failed: true },
    kept: 'a b b.0 b.2',
    first: 'start b.1, start b.3',
  },
  {
    why: 'a fan-out whose list comes from a restarted step starts from the beginning',
    steps: ['a, may fail', 'b: a, all-done'],
    was: 'a failed; b failed of 2; b.0 ok; b.1 failed',
    scope: { failed: true },
    kept: '',
    first: 'start a',
  },
  {
    why: 'a fan-out without a list starts from the beginning',
    steps: ['a'],
    was: 'a failed expression',
    scope: { failed: true },
    kept: '',
    first: 'start a',
  },
  {
    why: 'finally steps run again after any other restarted step',
    steps: ['a', 'b', 'last, finally'],
    was: 'a ok; b failed; last ok',
    scope: { failed: true },
    kept: 'a',
    first: 'start b',
  },
  {
    why: 'a single failed finally step runs again with its dependents only',
    steps: ['a', 'last, finally', 'other, finally', 'later: last, finally'],
    was: 'a ok; last failed; other ok; later ok',
    scope: { failed: true },
    kept: 'a other',
    first: 'start last',
  },
  {
    why: 'from a step: all its direct and indirect dependents',
    steps: ['a', 'b: a', 'c: b', 'd: a', 'e: d c'],
    was: 'a ok; b ok; c ok; d ok; e ok',
    scope: { from: 'b' },
    kept: 'a d',
    first: 'start b',
  },
  {
    why: 'from a step: a failure elsewhere is kept',
    steps: ['a', 'b', 'c: a'],
    was: 'a ok; b failed; c ok',
    scope: { from: 'a' },
    kept: 'b',
    first: 'start a',
  },
  {
    why: 'from a step: interrupted steps continue as well',
    steps: ['a', 'b', 'c: b', 'd'],
    was: 'a ok; b cancelled; c skipped cancelled; d failed',
    scope: { from: 'a' },
    kept: 'd',
    first: 'start a, start b',
  },
  {
    why: 'from a fan-out: all its items',
    steps: ['a', 'b: a'],
    was: 'a ok; b succeeded of 2; b.0 ok; b.1 ok',
    scope: { from: 'b' },
    kept: 'a',
    first: 'start b',
  },
  {
    why: 'what failed and is skipped now lets others start',
    steps: ['a', 'b: a', 'c: b', 'd'],
    was: 'a failed; b skipped needs; c skipped needs; d failed',
    scope: { failed: true, skip: 'a' },
    kept: '',
    first: 'start d, start b',
  },
  {
    why: 'without failures nothing runs again',
    steps: ['a', 'b: a, any-failed'],
    was: 'a ok; b skipped needs',
    scope: { failed: true },
    kept: 'a b',
    first: 'end succeeded',
  },
]

describe('planRetry', () => {
  for (const { why, steps: lines, was, scope, kept, first } of TABLE) {
    test(why, () => {
      const { names, steps } = parseSteps(lines)
      const facts = was.split('; ').map((line) => parseFact(names, line))
      const indices = (words = '') =>
        words
          .split(' ')
          .filter(Boolean)
          .map((name) => names.indexOf(name))
      const asked: RetryScope = {
        failed: scope.failed,
        from: indices(scope.from),
        skip: indices(scope.skip),
      }
      const plan = planRetry(compileGraph(steps), facts, asked)
      const places = plan.kept.map(({ step, item }) => names[step] + (item < 0 ? '' : `.${item}`))
      assert.equal(places.join(' '), kept)
      const workflow = scriptWorkflow(lines, plan.kept)
      const skips = indices(scope.skip).map((step) => `${names[step]} skipped operator`)
      assert.equal(workflow.after(...skips).join(', '), first)
    })
  }
})

test('of 1,000 items with 7 failures, exactly 7 run again, with the steps that depend on them', () => {
  const { steps } = parseSteps([
    'list',
    'load: list',
    'other: list',
    'report: load',
    'mail: report',
  ])
  const graph = compileGraph(steps)
  const bad = new Set([0, 13, 14, 500, 501, 998, 999])
  const fact = (step: number, item: number, more: Partial<StepFact> = {}): StepFact => ({
    step,
    item,
    state: 'succeeded',
    reason: null,
    count: null,
    ...more,
  })
  const facts = [
    fact(0, WHOLE_STEP),
    fact(1, WHOLE_STEP, { state: 'failed', count: 1_000 }),
    ...Array.from({ length: 1_000 }, (_, item) =>
      fact(1, item, bad.has(item) ? { state: 'failed' } : {}),
    ),
    fact(2, WHOLE_STEP),
    fact(3, WHOLE_STEP, { state: 'skipped', reason: 'needs' }),
    fact(4, WHOLE_STEP, { state: 'skipped', reason: 'needs' }),
  ]
  const plan = planRetry(graph, facts, { failed: true })
  assert.deepEqual([plan.restarted, plan.resumed], [[3, 4], [1]])
  const progress = createWorkflowProgress(graph, plan.kept)
  const started: string[] = []
  for (let decisions = progress.next(100); decisions.length > 0; decisions = progress.next(100)) {
    for (const decision of decisions) {
      if (decision.to !== 'start') continue
      started.push(`${decision.step}.${decision.item}`)
      progress.apply(fact(decision.step, decision.item))
    }
  }
  assert.deepEqual(started, [...[...bad].map((item) => `1.${item}`), '3.-1', '4.-1'])
})
