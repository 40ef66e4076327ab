import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PunctualError } from '../../errors.ts'
import type { StepInput } from '../definition.ts'
import { readWorkflow } from './read-workflow.ts'
import type { Workflow } from '../workflow.ts'

type Definition = Parameters<typeof readWorkflow>[0]

const read = (definition: Definition) => readWorkflow(definition, { job: 'etl' })
const ofSteps = (steps: Record<string, StepInput> | StepInput[]) => read({ steps })
const needsOf = ({ steps, needs }: Workflow) => steps.map((_, step) => [...needs.of(step)])
const noop = (rest: StepInput = {}): StepInput => ({ run: 'true', ...rest })

function refusal(definition: Definition): PunctualError {
  try {
    read(definition)
  } catch (error) {
    assert.ok(error instanceof PunctualError, String(error))
    return error
  }
  return assert.fail('it was not refused')
}

test('a list runs top to bottom, a map as its needs say', () => {
  const list = ofSteps([noop(), noop({ name: 'b' }), noop()])
  assert.deepEqual(
    list.steps.map(({ name }) => name),
    ['step-1', 'b', 'step-3'],
  )
  assert.deepEqual(needsOf(list), [[], [0], [1]])
  const map = ofSteps({ a: noop(), b: noop(), c: noop({ needs: ['a', 'b'] }) })
  assert.deepEqual(needsOf(map), [[], [], [0, 1]])
})

test('in a list, explicit needs replace the default, and finally steps are not predecessors', () => {
  const workflow = ofSteps([
    noop({ name: 'a' }),
    noop({ name: 'b', needs: [] }),
    noop({ name: 'tidy', finally: true }),
    noop({ name: 'c', needs: 'a' }),
    noop({ name: 'd' }),
  ])
  assert.deepEqual(needsOf(workflow), [[], [], [], [0], [3]])
  assert.deepEqual(
    workflow.steps.map(({ isFinally }) => isFinally),
    [false, false, true, false, false],
  )
})

const wrong: [why: string, steps: Definition['steps'], field: string, message: RegExp][] = [
  ['no step', {}, 'steps', /there are no steps/],
  ['no work', { a: {} }, 'steps.a', /nothing to run/],
  ['two kinds of work', { a: { run: 'x', task: 'y' } }, 'steps.a.task', /does run as well/],
  ['an unknown name', { load: noop(), b: noop({ needs: ['laod'] }) }, 'steps.b.needs.0', /load\?$/],
  ['a need as text', { b: noop({ needs: 'x' }) }, 'steps.b.needs', /no step x/],
  [
    'the same need twice',
    { a: noop(), b: noop({ needs: ['a', 'a'] }) },
    'steps.b.needs.1',
    /twice/,
  ],
  ['itself', { a: noop({ needs: 'a' }) }, 'steps.a.needs', /a → a/],
  [
    'each other',
    { a: noop({ needs: 'b' }), b: noop({ needs: 'a' }) },
    'steps.a.needs',
    /a → b → a/,
  ],
  [
    'a cycle of three after a first step',
    { z: noop(), a: noop({ needs: ['z', 'c'] }), b: noop({ needs: 'a' }), c: noop({ needs: 'b' }) },
    'steps.a.needs',
    /a → c → b → a/,
  ],
  ['a name twice', [noop({ name: 'a' }), noop({ name: 'a' })], 'steps.1.name', /steps\.0/],
  ['a name taken by a place', [noop(), noop({ name: 'step-1' })], 'steps.1.name', /step-1/],
  ['a name that is none', { 'a b': noop() }, 'steps.a b.name', /not a name/],
  [
    'a name in a map',
    { a: noop({ name: 'b' }) },
    'steps.a.name',
    /the key is the name of the step/,
  ],
  [
    'a finally step before another',
    { a: noop({ finally: true }), b: noop({ needs: 'a' }) },
    'steps.b.needs',
    /finally step/,
  ],
  ['max_parallel alone', { a: noop({ max_parallel: 3 }) }, 'steps.a.max_parallel', /each/],
  ['retry of another job', { a: { job: 'x', retry: { max: 1 } } }, 'steps.a.retry', /itself/],
  [
    'each of an approval',
    { a: { approve: {}, each: [1] } },
    'steps.a.each',
    /no effect on an approval/,
  ],
  ['work that is none', { a: { run: ' ' } }, 'steps.a.run', /empty/],
  [
    'a field of another kind',
    { a: { task: 't', env: { A: 'x' } } },
    'steps.a.env',
    /which is missing/,
  ],
  ['a list that is none', { a: noop({ each: '${{ run.id }}' }) }, 'steps.a.each', /a list/],
  ['a condition that is text', { a: noop({ if: '${{ run.id }}' }) }, 'steps.a.if', /true or false/],
  ['a condition without brackets', { a: noop({ if: 'run.wave > 1' }) }, 'steps.a.if', /one expre/],
  ['an item without each', { a: { argv: ['x', '${{ item }}'] } }, 'steps.a.argv.1', /with each/],
  ['its own output', { a: { argv: ['${{ steps.a.output }}'] } }, 'steps.a.argv.0', /its own/],
  [
    'an expression in a name',
    { a: noop({ queue: '${{ run.id }}' }) },
    'steps.a.queue',
    /an expression is not allowed/,
  ],
  [
    'a step that is not needed',
    { a: noop(), b: noop(), c: { argv: ['x', '${{ steps.a.output.n }}'], needs: ['b'] } },
    'steps.c.argv.1',
    /c does not need a/,
  ],
  [
    'python with an expression in it',
    { a: { script: 'print("${{ run.id }}")', interpreter: 'python3' } },
    'steps.a.script',
    /python3 is not a known shell/,
  ],
  [
    'a secret in an argument',
    { a: { argv: ['x', '${{ secrets.TOKEN }}'] } },
    'steps.a.argv.1',
    /cannot be given here/,
  ],
  [
    'a secret under another name',
    { a: noop({ env: { OTHER: '${{ secrets.TOKEN }}' } }) },
    'steps.a.env.OTHER',
    /under its own name, TOKEN/,
  ],
  [
    'a secret within a text',
    { a: noop({ env: { TOKEN: 'x${{ secrets.TOKEN }}' } }) },
    'steps.a.env.TOKEN',
    /whole value of its variable/,
  ],
]

for (const [why, steps, field, message] of wrong) {
  test(`rejects a workflow: ${why}`, () => {
    const error = refusal({ steps })
    assert.match(error.message, message)
    assert.equal(error.field, field)
    assert.ok(error.status === 422, error.code)
  })
}

test('an indirect need allows a reference, and finally steps may refer to all steps', () => {
  const { steps } = ofSteps({
    a: noop(),
    b: noop({ needs: 'a' }),
    c: { argv: ['x', '${{ steps.a.output }}'], needs: 'b' },
    tidy: { argv: ['x', '${{ steps.c.state }}'], finally: true },
  })
  assert.equal(steps.length, 4)
})

test('checks references to input fields by their types', () => {
  const input = { day: { type: 'string', format: 'date' } } as const
  const steps = { a: noop({ env: { D: '${{ input.dya }}' } }) }
  const error = refusal({ input, steps })
  assert.match(error.message, /did you mean input\.day/)
  assert.equal(error.field, 'steps.a.env.D')
  assert.match(
    refusal({ input: { a: { type: 'integer', default: 'x' } }, steps: { a: noop() } }).message,
    /input\.a\.default must be a whole number/,
  )
})

test('collects all problems', () => {
  const problems: PunctualError[] = []
  const steps = { a: noop({ needs: 'x' }), b: {}, c: noop({ if: '${{ 1 }}' }) }
  readWorkflow({ steps }, { job: 'etl', onProblem: (problem) => void problems.push(problem) })
  assert.deepEqual(
    problems.map(({ field }) => field),
    ['steps.a.needs', 'steps.b', 'steps.c.if'],
  )
})

test('reads a hundred thousand steps: a chain, a fan, and a million needs', () => {
  const count = 100_000
  const chain = Array.from({ length: count }, () => ({ task: 'noop' }))
  assert.deepEqual(needsOf(ofSteps(chain)).at(-1), [count - 2])
  const fan = chain.map((step, nth) =>
    nth === 0 ? step : { ...step, needs: nth === count - 1 ? names(1, count - 1) : ['step-1'] },
  )
  assert.equal(needsOf(ofSteps(fan)).at(-1)?.length, count - 2)
  const dense = chain.map((step, nth) => ({ ...step, needs: names(Math.max(0, nth - 10), nth) }))
  assert.equal(needsOf(ofSteps(dense)).flat().length, 999_945)
})

test('rejects too many steps, and names a long cycle', () => {
  const error = refusal({ steps: Array.from({ length: 100_001 }, () => noop()) })
  assert.equal(error.code, 'too_many_steps')
  assert.equal(error.status, 413)
  const inCycle = Array.from({ length: 50_000 }, () => noop())
  const long = refusal({ steps: [noop({ needs: 'step-50000' }), ...inCycle.slice(1)] })
  assert.match(long.message, /step-1 → step-50000 → .*… 49993 more ….* → step-1$/)
})

test('checks references to distant steps without walking the graph for each', () => {
  const count = 20_000
  const steps = Array.from({ length: count }, (_, nth) =>
    nth < 2 ? { task: 'noop' } : { task: 'noop', with: '${{ steps.step-1.output }}' },
  )
  assert.equal(ofSteps(steps).steps.length, count)
})

function names(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, nth) => `step-${from + nth + 1}`)
}
