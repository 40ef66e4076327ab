import type { Names } from '../expression/check.ts'
import { type Expression, type Json, RUN_FACTS } from '../expression/expression.ts'
import { readTemplate } from '../expression/read-template.ts'
import { expressionsIn } from '../expression/references.ts'
import type { PunctualError } from '../errors.ts'
import type { Edges } from './edges.ts'
import { LIMITS } from '../limits.ts'
import { nearestName } from '../text/nearest.ts'
import { type Pausing, withoutPause } from '../pausing.ts'
import { findCircle, showCircle } from './step-cycle.ts'
import type { StepInput, WorkflowInput } from './definition.ts'
import { readGates } from './gates.ts'
import { createInherit } from './step-defaults.ts'
import { nameSteps, type NamedSteps } from './named-steps.ts'
import { NO_WAY_IN, readNeeds } from './needs.ts'
import { EARLY_FACTS, kindsOf, readParameters } from './parameters.ts'
import { attempt, type OnProblem, throwFirst, wrongStep } from './problems.ts'
import { readStep } from './read-step.ts'
import { findUnmet, type Reference, unmet } from './step-references.ts'
import type { Step, Workflow } from './workflow.ts'

export interface ReadWorkflow {
  /** What the job is called. */
  readonly job: string
  /** Where the definition stands, such as `definition.`. */
  readonly at?: string
  /** Throws unless told otherwise. Whoever collects gets a workflow without what was wrong. */
  readonly onProblem?: OnProblem
}

/** What a workflow means. Throws what is wrong with it, with the field that is. */
export function readWorkflow(
  definition: WorkflowInput & StepDefaults,
  options: ReadWorkflow,
): Workflow {
  return withoutPause(readingWorkflow(definition, options))
}

/** The same with pauses: a hundred thousand steps are not read in a moment. */
export function* readingWorkflow(
  definition: WorkflowInput & StepDefaults,
  { job, at = '', onProblem = throwFirst }: ReadWorkflow,
): Pausing<Workflow> {
  const parameters = readParameters(definition.input, `${at}input`, onProblem)
  const named = yield* nameSteps(definition, at, onProblem)
  const needs = yield* readNeeds(named, onProblem)
  const circle = findCircle(needs)
  if (circle) onProblem(circleProblem(circle, named))
  const input = definition.input === undefined ? null : kindsOf(parameters)
  const jobNames: Names = { ...OF_JOB, input }
  const inherit = createInherit(definition)
  const steps: Step[] = []
  /** The step that is being read: all of them are read by the same words. */
  let self = ''
  const alone: Names = {
    ...{ input, facts: RUN_FACTS, maySecrets: false, hasItem: false },
    refuseStep: (name) => refuseStep(name, self, named.indexOf),
  }
  const forEach: Names = { ...alone, hasItem: true }
  for (const step of named.steps) {
    self = step.name
    const names = step.input.each === undefined ? alone : forEach
    const read = attempt(onProblem, () => readStep(step, { names, jobNames, inherit }))
    if (read) steps.push(read)
    yield
  }
  // Without all of them, places would not be places any more.
  if (steps.length === named.steps.length && !circle) {
    yield* checkReferences(steps, needs, named, onProblem)
  }
  const early: Names = { ...jobNames, facts: EARLY_FACTS }
  // All of them have ended by then.
  const late: Names = { ...jobNames, refuseStep: (name) => refuseStep(name, '', named.indexOf) }
  const { output } = definition
  return {
    steps,
    needs,
    parameters,
    output:
      output === undefined
        ? null
        : (attempt(onProblem, () => readTemplate(output as Json, late, `${at}output`)) ?? null),
    gates:
      attempt(onProblem, () => readGates(definition.concurrency, job, early, `${at}concurrency`)) ??
      [],
  }
}

/** What a job may say for all its steps. */
type StepDefaults = Pick<
  StepInput,
  | ('env' | 'secrets' | 'shell' | 'cwd' | 'umask' | 'run_as' | 'kill_grace' | 'limits')
  | ('queue' | 'priority' | 'runs_on' | 'weight' | 'retry' | 'on_lost')
>

const OF_JOB: Omit<Names, 'input'> = {
  facts: RUN_FACTS,
  hasItem: false,
  maySecrets: false,
  refuseStep: () => ({ message: 'what is said for the whole job cannot name a step' }),
}

function refuseStep(name: string, self: string, indexOf: NamedSteps['indexOf']) {
  if (name === self) return { message: `${self} cannot know its own output` }
  if (indexOf.has(name)) return undefined
  const known = indexOf.size > LIMITS.pageSize ? [] : [...indexOf.keys()]
  const meant = nearestName(name, known)
  const advice = meant === undefined ? '' : `; did you mean ${meant}?`
  return { message: `there is no step ${name}${advice}` }
}

function circleProblem(circle: readonly number[], { steps }: NamedSteps): PunctualError {
  const [first = 0] = circle
  const path = showCircle(circle, (step) => steps[step]?.name ?? '')
  const field = `${steps[first]?.at}needs`
  return wrongStep(field, `these steps need each other: ${path}`, NO_WAY_IN)
}

function* checkReferences(
  steps: readonly Step[],
  needs: Edges,
  { indexOf }: NamedSteps,
  onProblem: OnProblem,
): Pausing<void> {
  const references: Reference[] = []
  for (let from = 0; from < steps.length; from += 1) {
    for (const expression of expressionsOf(steps[from] as Step)) {
      for (const name of expression.steps) {
        references.push({ from, to: indexOf.get(name) as number, expression })
      }
    }
    yield
  }
  const graph = { needs, isFinally: (step: number) => steps[step]?.isFinally ?? false }
  for (const { from, to, expression } of yield* findUnmet(references, graph)) {
    onProblem(unmet(expression, steps[from]?.name ?? '', steps[to]?.name ?? ''))
  }
}

/** Everything that is evaluated when a step is about to begin. */
export function expressionsOf(step: Step): readonly Expression[] {
  const { condition, each } = step
  const ofWork = expressionsOfWork(step)
  if (!condition && !each) return ofWork
  return [...(condition ? [condition] : []), ...(each ? expressionsIn(each) : []), ...ofWork]
}

/** Of a hundred thousand steps, most may have none. */
const NO_EXPRESSIONS: readonly Expression[] = []

/** Those of what it does, once it is known that it begins, and for which items. */
export function expressionsOfWork({ does }: Step): readonly Expression[] {
  if (does.kind === 'approve') {
    return does.approval.message ? expressionsIn(does.approval.message) : []
  }
  if (does.work.holes.length + does.work.variables.length === 0) return NO_EXPRESSIONS
  return [
    ...does.work.holes.flatMap(({ template }) => expressionsIn(template)),
    ...does.work.variables.map(([, value]) => value),
  ]
}
