import type { Names } from '../../expression/check.ts'
import type { Expression, Template } from '../../expression/expression.ts'
import { expressionError } from '../../expression/expression-error.ts'
import type { OnWarning } from '../../expression/shell/shell-warnings.ts'
import { describeKinds } from '../../expression/value-kinds.ts'
import { readExpression, readTemplate } from '../../expression/read-template.ts'
import { parseDuration } from '../../text/duration.ts'
import { PunctualError } from '../../errors.ts'
import { type ApprovalInput, STEP_KINDS, type StepInput, type StepKind } from '../definition.ts'
import type { Inherit } from './step-defaults.ts'
import type { NamedStep } from './named-steps.ts'
import { readParameters } from '../parameters/parameters.ts'
import { throwFirst, workflowError } from '../problems.ts'
import { readWorkTemplate } from '../work/work-template.ts'
import type { Approval, Step, StepWork, WorkTemplate } from '../workflow.ts'

export interface StepContext {
  readonly names: Names
  /** The names available in the job's defaults for steps. */
  readonly jobNames: Names
  /** Adds the job's defaults to a step. */
  readonly inherit: Inherit
  readonly onWarning?: OnWarning | undefined
}

export function readStep({ name, input, at }: NamedStep, context: StepContext): Step {
  const { names } = context
  const kind = kindOf(input, at)
  refuseUnusedFields(input, kind, at)
  return {
    name,
    // A `finally` step cleans up, so by default it also runs after failures.
    when: input.when ?? (input.finally ? 'always' : 'all-succeeded'),
    condition: readCondition(input.if, names, `${at}if`),
    each: readEach(input, names, at),
    maxParallel: input.max_parallel ?? null,
    isFinally: input.finally ?? false,
    mayFail: input.allow_failure ?? false,
    does: readWork(input, kind, at, context),
  }
}

function kindOf(input: StepInput, at: string): StepKind {
  const [kind, second] = STEP_KINDS.filter((name) => input[name] !== undefined)
  if (kind === undefined) {
    const hint = `Give it one of ${STEP_KINDS.join(', ')}.`
    throw workflowError(at.slice(0, -1), 'the step has nothing to run', hint)
  }
  if (second === undefined) return kind
  throw workflowError(`${at}${second}`, `a step does one thing, and this does ${kind} as well`)
}

/** Fields that apply only to steps with a run of their own. */
const RUN_FIELDS = ['retry', 'secrets', 'runs_on', 'weight', 'on_lost', 'queue'] as const

function refuseUnusedFields(input: StepInput, kind: StepKind, at: string): void {
  const refuse = (name: keyof StepInput, why: string) => {
    if (input[name] === undefined) return
    throw new PunctualError('invalid_field', `${at}${name} ${why}`, { field: `${at}${name}` })
  }
  if (input.each === undefined) refuse('max_parallel', 'needs each, which is missing')
  if (kind !== 'approve' && kind !== 'job') return
  const theirs =
    kind === 'job' ? 'can only be set by the job itself' : 'has no effect on an approval'
  for (const name of RUN_FIELDS) refuse(name, theirs)
  if (kind === 'job') return
  for (const name of ['with', 'each', 'timeout', 'priority'] as const) refuse(name, theirs)
}

function readCondition(condition: StepInput['if'], names: Names, field: string): Expression | null {
  if (condition === undefined || condition === true) return null
  if (condition === false) {
    return { root: { kind: 'value', value: false }, text: 'false', field, steps: [] }
  }
  const { expression, kind } = readExpression(condition, { ...names, hasItem: false }, field)
  if (kind === 'boolean' || kind === 'null' || kind === 'any') return expression
  throw expressionError(field, `it should be true or false, and is ${describeKinds(kind)}`)
}

function readEach({ each }: StepInput, names: Names, at: string): Template | null {
  if (each === undefined) return null
  const outside = { ...names, hasItem: false }
  const field = `${at}each`
  if (typeof each !== 'string') return readTemplate(each, outside, field)
  const { expression, kind } = readExpression(each, outside, field)
  if (kind === 'array' || kind === 'any') return { kind: 'expression', expression }
  throw expressionError(field, `it should be a list, and is ${describeKinds(kind)}`)
}

function readWork(input: StepInput, kind: StepKind, at: string, context: StepContext): StepWork {
  const { names, jobNames, inherit, onWarning } = context
  if (input.approve) {
    return { kind: 'approve', approval: readApproval(input.approve, names, `${at}approve.`) }
  }
  const ownVariables = input.env ? new Set(Object.keys(input.env)) : NO_VARIABLES
  const work = readWorkTemplate(inherit(input, kind), {
    at,
    names,
    jobNames,
    ownVariables,
    onWarning,
  })
  if (input.job !== undefined) return { kind: 'job', job: input.job, work }
  return { kind: 'submit', work: input.each === undefined ? work : withItem(work, at) }
}

const NO_VARIABLES: ReadonlySet<string> = new Set()

/** A command receives its item in a variable without further configuration. */
function withItem(work: WorkTemplate, at: string): WorkTemplate {
  const { sample, placeholders } = work
  const isStarted = (['run', 'argv', 'script', 'container'] as const).some((name) => sample[name])
  const isTaken = sample.env !== undefined && Object.hasOwn(sample.env, 'ITEM')
  if (!isStarted || isTaken) return work
  const expression = { root: { kind: 'item' }, text: 'item', field: `${at}env.ITEM`, steps: [] }
  const template = { kind: 'expression', expression } as const
  const placeholder = { path: ['env', 'ITEM'], template, as: 'text' } as const
  return { ...work, placeholders: [...placeholders, placeholder] } as WorkTemplate
}

function readApproval(input: ApprovalInput, names: Names, at: string): Approval {
  const { by = [], message, timeout } = input
  return {
    by,
    message: message === undefined ? null : readTemplate(message, names, `${at}message`),
    timeoutMs: timeout === undefined ? null : parseDuration(timeout, `${at}timeout`),
    parameters: readParameters(input.input, `${at}input`, throwFirst),
  }
}
