// Accidental and malicious definitions of any size: each is accepted, or refused with an explanation.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PunctualError } from '../../src/core/errors.ts'
import { compilingGraph } from '../../src/core/workflow/graph.ts'
import { runWithoutPauses } from '../../src/core/pausing.ts'
import type { StepInput } from '../../src/core/workflow/definition.ts'
import { readWorkflow } from '../../src/core/workflow/reading/read-workflow.ts'

const MANY = 100_000
type Steps = readonly StepInput[] | Readonly<Record<string, StepInput>>

const task = (more: StepInput = {}): StepInput => ({ task: 'noop', ...more })
const many = (count: number, stepOf: (nth: number) => StepInput) =>
  Array.from({ length: count }, (_, nth) => stepOf(nth))
/** Unnamed steps of a list are named by position, from 1. */
const before = (nth: number, count: number) =>
  Array.from({ length: Math.min(count, nth) }, (_, back) => `step-${nth - back}`)
const withMessage = (expression: string) => ({
  a: task(),
  b: task({ needs: 'a', with: expression }),
})

const ACCEPTED: readonly [why: string, steps: () => Steps, edges: number][] = [
  ['a chain of a hundred thousand', () => many(MANY, () => task()), MANY - 1],
  [
    'a hundred thousand independent steps',
    () => many(MANY, (nth) => task({ needs: nth === 0 ? [] : 'step-1' })),
    MANY - 1,
  ],
  [
    'one that needs all the others',
    () => many(MANY, (nth) => task({ needs: nth === MANY - 1 ? before(nth, MANY) : [] })),
    MANY - 1,
  ],
  ['a million edges', () => many(MANY, (nth) => task({ needs: before(nth, 10) })), 999_945],
  ['a fan-out to a hundred thousand', () => [task({ each: Array.from({ length: MANY }) })], 0],
  [
    'a name that objects have',
    () => ({ constructor: task(), b: task({ needs: 'constructor' }) }),
    1,
  ],
]

describe('accepted, without recursion and in one pass', () => {
  for (const [why, steps, edges] of ACCEPTED) {
    test(why, () => {
      const workflow = readWorkflow({ steps: steps() }, { job: 'hostile' })
      const { size, needs } = runWithoutPauses(compilingGraph(workflow.steps, workflow.needs))
      assert.equal(size, workflow.steps.length)
      assert.equal(needs.ends.length, edges)
    })
  }
})

const REFUSED: readonly [why: string, steps: () => Steps, code: string, message: RegExp][] = [
  ['no steps', () => ({}), 'invalid_workflow', /step/],
  ['a step that needs itself', () => ({ a: task({ needs: 'a' }) }), 'invalid_workflow', /a → a/],
  [
    'two that need each other',
    () => ({ a: task({ needs: 'b' }), b: task({ needs: 'a' }) }),
    'invalid_workflow',
    /a → b → a/,
  ],
  [
    'a cycle of a hundred thousand steps',
    () => many(MANY, (nth) => (nth === 0 ? task({ needs: `step-${MANY}` }) : task())),
    'invalid_workflow',
    /step-1 → step-100000 → .*… 99993 more …/,
  ],
  ['an unknown need', () => ({ a: task({ needs: 'b' }) }), 'invalid_workflow', /no step b/],
  [
    'the same name twice',
    () => [task({ name: 'a' }), task({ name: 'a' })],
    'invalid_workflow',
    /a\b/,
  ],
  ['one step too many', () => many(MANY + 1, () => task()), 'too_many_steps', /100000/],
  ['a name with a path in it', () => ({ '../a': task() }), 'invalid_workflow', /\.\.\/a/],
  ['a name that is an expression', () => ({ '${{ 1 }}': task() }), 'invalid_workflow', /\$\{\{/],
  [
    'a step that refers to itself',
    () => ({ a: task({ with: '${{ steps.a.output }}' }) }),
    ...loop(),
  ],
  [
    'two steps that refer to each other',
    () => ({
      a: task({ with: '${{ steps.b.output }}' }),
      b: task({ needs: 'a', with: '${{ steps.a.output }}' }),
    }),
    ...loop(),
  ],
  ['an expression in an expression', () => withMessage('${{ ${{ 1 }} }}'), ...bad()],
  [
    'brackets without end',
    () => withMessage(`\${{ ${'('.repeat(9)}1${')'.repeat(9)} }}`),
    ...bad(),
  ],
  [
    'an expression that is too long',
    () => withMessage(`\${{ '${'x'.repeat(70_000)}' }}`),
    ...bad(),
  ],
  ['the way to a constructor', () => withMessage("${{ input.constructor('x')() }}"), ...bad()],
  ['something of the process', () => withMessage('${{ process.env }}'), ...bad()],
  ['something that is assigned', () => withMessage('${{ input.a = 1 }}'), ...bad()],
  ['a template of another language', () => withMessage('${{ `${input.a}` }}'), ...bad()],
]

function bad(): [code: string, message: RegExp] {
  return ['invalid_expression', /./]
}

function loop(): [code: string, message: RegExp] {
  return ['invalid_expression', /need|its own/]
}

describe('refused, with the name of the offending part', () => {
  for (const [why, steps, code, message] of REFUSED) {
    test(why, () => {
      assert.throws(
        () => readWorkflow({ steps: steps() }, { job: 'hostile' }),
        (error) => {
          assert.ok(error instanceof PunctualError, String(error))
          assert.deepEqual([error.code, error.status < 500], [code, true], error.message)
          assert.match(error.message, message)
          assert.ok(error.message.length < 1_000, 'as long as what it is about')
          return true
        },
      )
    })
  }
})
