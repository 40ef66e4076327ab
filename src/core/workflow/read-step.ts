import type { Names } from '../expression/check.ts'
import type { Expression, Template } from '../expression/expression.ts'
import { wrongExpression } from '../expression/expression-error.ts'
import { inWords } from '../expression/value-kinds.ts'
import { readExpression, readTemplate } from '../expression/read-template.ts'
import { parseDuration } from '../text/duration.ts'
import { PunctualError } from '../errors.ts'
import { type ApprovalInput, STEP_KINDS, type StepInput, type StepKind } from './definition.ts'
import type { Inherit } from './step-defaults.ts'
import type { NamedStep } from './named-steps.ts'
import { readParameters } from './parameters.ts'
import { throwFirst, wrongStep } from './problems.ts'
import { readWorkTemplate } from './work-template.ts'
import type { Approval, Step, StepWork, WorkTemplate } from './workflow.ts'

export interface StepContext {
  readonly names: Names
  /** What can be named in what the job says for all steps. */
  readonly jobNames: Names
  /** Gives a step what the job says for all of them. */
  readonly inherit: Inherit
}

export function readStep({ name, input, at }: NamedStep, context: StepContext): Step {
  const { names } = context
  const kind = kindOf(input, at)
  refuseStrays(input, kind, at)
  return {
    name,
    // What clears up is for the bad days as well, unless it says otherwise.
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
    throw wrongStep(at.slice(0, -1), 'the step says nothing that could be done', hint)
  }
  if (second === undefined) return kind
  throw wrongStep(`${at}${second}`, `a step does one thing, and this does ${kind} as well`)
}

/** Fields that mean something only for steps that are runs of their own. */
const OF_RUNS = ['retry', 'secrets', 'runs_on', 'weight', 'on_lost', 'queue'] as const

function refuseStrays(input: StepInput, kind: StepKind, at: string): void {
  const refuse = (name: keyof StepInput, why: string) => {
    if (input[name] === undefined) return
    throw new PunctualError('invalid_field', `${at}${name} ${why}`, { field: `${at}${name}` })
  }
  if (input.each === undefined) refuse('max_parallel', 'belongs to each, which is absent')
  if (kind !== 'approve' && kind !== 'job') return
  const theirs = kind === 'job' ? 'is for the job itself to say' : 'means nothing for an approval'
  for (const name of OF_RUNS) refuse(name, theirs)
  if (kind === 'job') return
  for (const name of ['with', 'each', 'timeout', 'priority'] as const) refuse(name, theirs)
}

function readCondition(said: StepInput['if'], names: Names, field: string): Expression | null {
  if (said === undefined || said === true) return null
  if (said === false) {
    return { root: { kind: 'value', value: false }, text: 'false', field, steps: [] }
  }
  const { expression, kind } = readExpression(said, { ...names, hasItem: false }, field)
  if (kind === 'boolean' || kind === 'null' || kind === 'any') return expression
  throw wrongExpression(field, `it should be true or false, and is ${inWords(kind)}`)
}

function readEach({ each }: StepInput, names: Names, at: string): Template | null {
  if (each === undefined) return null
  const outside = { ...names, hasItem: false }
  const field = `${at}each`
  if (typeof each !== 'string') return readTemplate(each, outside, field)
  const { expression, kind } = readExpression(each, outside, field)
  if (kind === 'array' || kind === 'any') return { kind: 'expression', expression }
  throw wrongExpression(field, `it should be a list, and is ${inWords(kind)}`)
}

function readWork(input: StepInput, kind: StepKind, at: string, context: StepContext): StepWork {
  const { names, jobNames, inherit } = context
  if (input.approve) {
    return { kind: 'approve', approval: readApproval(input.approve, names, `${at}approve.`) }
  }
  const ownVariables = input.env ? new Set(Object.keys(input.env)) : NO_VARIABLES
  const work = readWorkTemplate(inherit(input, kind), { at, names, jobNames, ownVariables })
  if (input.job !== undefined) return { kind: 'job', job: input.job, work }
  return { kind: 'submit', work: input.each === undefined ? work : withItem(work, at) }
}

const NO_VARIABLES: ReadonlySet<string> = new Set()

/** A command finds its item in a variable, without having to ask for it. */
function withItem(work: WorkTemplate, at: string): WorkTemplate {
  const { sample, holes } = work
  const isStarted = (['run', 'argv', 'script', 'container'] as const).some((name) => sample[name])
  const isTaken = sample.env !== undefined && Object.hasOwn(sample.env, 'ITEM')
  if (!isStarted || isTaken) return work
  const expression = { root: { kind: 'item' }, text: 'item', field: `${at}env.ITEM`, steps: [] }
  const template = { kind: 'expression', expression } as const
  const hole = { path: ['env', 'ITEM'], template, as: 'text' } as const
  return { ...work, holes: [...holes, hole] } as WorkTemplate
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
