import type { Names } from '../../expression/check.ts'
import { type Expression, type Json, RUN_FACTS } from '../../expression/expression.ts'
import { createExpressionCount, readTemplate } from '../../expression/read-template.ts'
import { expressionsIn } from '../../expression/references.ts'
import type { OnWarning } from '../../expression/shell/shell-warnings.ts'
import type { PunctualError } from '../../errors.ts'
import type { Edges } from '../edges.ts'
import { LIMITS } from '../../limits.ts'
import { nearestName } from '../../text/nearest.ts'
import { type Pausing, runWithoutPauses } from '../../pausing.ts'
import { findCycle, describeCycle } from '../step-cycle.ts'
import type { StepInput, WorkflowInput } from '../definition.ts'
import { readGates } from './gates.ts'
import { createInherit } from './step-defaults.ts'
import { nameSteps, type NamedSteps } from './named-steps.ts'
import { STEP_CYCLE_HINT, readNeeds } from './needs.ts'
import { FACTS_BEFORE_CREATION, kindsOf, readParameters } from '../parameters/parameters.ts'
import { collectProblem, type OnProblem, throwFirst, workflowError } from '../problems.ts'
import { readStep } from './read-step.ts'
import {
  findUnorderedReferences,
  type StepReference,
  unorderedReferenceError,
} from './step-references.ts'
import type { Step, Workflow } from '../workflow.ts'

export interface ReadWorkflow {
  /** The name of the job. */
  readonly job: string
  /** The field prefix of the definition, such as `definition.`. */
  readonly at?: string
  /** Throws by default. A caller that collects problems gets a workflow without the invalid parts. */
  readonly onProblem?: OnProblem
  /** Receives the places where values of expressions may be executed. */
  readonly onWarning?: OnWarning | undefined
}

/** Reads a workflow. Throws an error with the field if it is invalid. */
export function readWorkflow(
  definition: WorkflowInput & StepDefaults,
  options: ReadWorkflow,
): Workflow {
  return runWithoutPauses(readingWorkflow(definition, options))
}

/** The same with pauses: reading a hundred thousand steps takes a while. */
export function* readingWorkflow(
  definition: WorkflowInput & StepDefaults,
  { job, at = '', onProblem = throwFirst, onWarning }: ReadWorkflow,
): Pausing<Workflow> {
  const parameters = readParameters(definition.input, `${at}input`, onProblem)
  const named = yield* nameSteps(definition, at, onProblem)
  const needs = yield* readNeeds(named, onProblem)
  const cycle = findCycle(needs)
  if (cycle) onProblem(cycleProblem(cycle, named))
  const input = definition.input === undefined ? null : kindsOf(parameters)
  const expressions = createExpressionCount()
  const { onExpression } = expressions
  const jobNames: Names = { ...JOB_LEVEL_NAMES, input, onExpression }
  const inherit = createInherit(definition)
  const steps: Step[] = []
  /** The name of the current step: all steps share one set of names. */
  let currentStep = ''
  const stepNames: Names = {
    input,
    facts: RUN_FACTS,
    maySecrets: false,
    hasItem: false,
    onExpression,
    refuseStep: (name) => refuseStep(name, currentStep, named.indexOf),
  }
  const itemNames: Names = { ...stepNames, hasItem: true }
  for (const step of named.steps) {
    currentStep = step.name
    expressions.reset()
    const names = step.input.each === undefined ? stepNames : itemNames
    const read = collectProblem(onProblem, () =>
      readStep(step, { names, jobNames, inherit, onWarning }),
    )
    if (read) steps.push(read)
    yield
  }
  // If a step is missing, the indices in `needs` are not valid.
  if (steps.length === named.steps.length && !cycle) {
    yield* checkReferences(steps, needs, named, onProblem)
  }
  expressions.reset()
  const gateNames: Names = { ...jobNames, facts: FACTS_BEFORE_CREATION }
  // All steps have ended when the output is evaluated.
  const outputNames: Names = {
    ...jobNames,
    refuseStep: (name) => refuseStep(name, '', named.indexOf),
  }
  const { output } = definition
  return {
    steps,
    needs,
    parameters,
    output:
      output === undefined
        ? null
        : (collectProblem(onProblem, () =>
            readTemplate(output as Json, outputNames, `${at}output`),
          ) ?? null),
    gates:
      collectProblem(onProblem, () =>
        readGates(definition.concurrency, job, gateNames, `${at}concurrency`),
      ) ?? [],
  }
}

/** Fields of a job that are defaults for its steps. */
type StepDefaults = Pick<
  StepInput,
  | ('env' | 'secrets' | 'shell' | 'cwd' | 'umask' | 'run_as' | 'kill_grace' | 'limits')
  | ('queue' | 'priority' | 'runs_on' | 'weight' | 'retry' | 'on_lost')
>

const JOB_LEVEL_NAMES: Omit<Names, 'input'> = {
  facts: RUN_FACTS,
  hasItem: false,
  maySecrets: false,
  refuseStep: () => ({ message: 'settings of the whole job cannot refer to a step' }),
}

function refuseStep(name: string, currentStep: string, indexOf: NamedSteps['indexOf']) {
  if (name === currentStep) return { message: `${currentStep} cannot use its own output` }
  if (indexOf.has(name)) return undefined
  const known = indexOf.size > LIMITS.pageSize ? [] : [...indexOf.keys()]
  const suggestion = nearestName(name, known)
  const advice = suggestion === undefined ? '' : `; did you mean ${suggestion}?`
  return { message: `there is no step ${name}${advice}` }
}

function cycleProblem(cycle: readonly number[], { steps }: NamedSteps): PunctualError {
  const [first = 0] = cycle
  const path = describeCycle(cycle, (step) => steps[step]?.name ?? '')
  const field = `${steps[first]?.at}needs`
  return workflowError(field, `these steps need each other: ${path}`, STEP_CYCLE_HINT)
}

function* checkReferences(
  steps: readonly Step[],
  needs: Edges,
  { indexOf }: NamedSteps,
  onProblem: OnProblem,
): Pausing<void> {
  const references: StepReference[] = []
  for (let from = 0; from < steps.length; from += 1) {
    for (const expression of expressionsOf(steps[from] as Step)) {
      for (const name of expression.steps) {
        references.push({ from, to: indexOf.get(name) as number, expression })
      }
    }
    yield
  }
  const graph = { needs, isFinally: (step: number) => steps[step]?.isFinally ?? false }
  for (const { from, to, expression } of yield* findUnorderedReferences(references, graph)) {
    onProblem(unorderedReferenceError(expression, steps[from]?.name ?? '', steps[to]?.name ?? ''))
  }
}

/** All expressions that are evaluated before a step starts. */
export function expressionsOf(step: Step): readonly Expression[] {
  const { condition, each } = step
  const ofWork = expressionsOfWork(step)
  if (!condition && !each) return ofWork
  return [...(condition ? [condition] : []), ...(each ? expressionsIn(each) : []), ...ofWork]
}

/** Of a hundred thousand steps, most may have none. */
const NO_EXPRESSIONS: readonly Expression[] = []

/** The expressions of its work, evaluated once the step and its items are known to start. */
export function expressionsOfWork({ does }: Step): readonly Expression[] {
  if (does.kind === 'approve') {
    return does.approval.message ? expressionsIn(does.approval.message) : []
  }
  if (does.work.placeholders.length + does.work.variables.length === 0) return NO_EXPRESSIONS
  return [
    ...does.work.placeholders.flatMap(({ template }) => expressionsIn(template)),
    ...does.work.variables.map(([, value]) => value),
  ]
}
