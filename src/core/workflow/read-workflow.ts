import type { Names } from '../expression/check.ts'
import { type Expression, RUN_FACTS } from '../expression/expression.ts'
import { expressionsIn } from '../expression/references.ts'
import type { PunctualError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { nearestName } from '../nearest.ts'
import { findCircle, showCircle } from './circle.ts'
import type { StepInput, WorkflowInput } from './definition.ts'
import { readGates } from './gates.ts'
import { createInherit } from './inherited.ts'
import { nameSteps, type NamedSteps } from './named-steps.ts'
import { NO_WAY_IN, readNeeds } from './needs.ts'
import { EARLY_FACTS, kindsOf, readParameters } from './parameters.ts'
import { attempt, type OnProblem, throwFirst, wrongStep } from './problems.ts'
import { readStep } from './read-step.ts'
import { type Reference, unmet, unmetReferences } from './references.ts'
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
  { job, at = '', onProblem = throwFirst }: ReadWorkflow,
): Workflow {
  const parameters = readParameters(definition.input, `${at}input`, onProblem)
  const named = nameSteps(definition, at, onProblem)
  const needs = readNeeds(named, onProblem)
  const circle = findCircle(needs)
  if (circle) onProblem(circleProblem(circle, named))
  const input = definition.input === undefined ? null : kindsOf(parameters)
  const jobNames: Names = { ...OF_JOB, input }
  const inherit = createInherit(definition)
  const steps = named.steps.flatMap((step, index): Step[] => {
    const names: Names = {
      ...{ input, facts: RUN_FACTS, maySecrets: false, hasItem: step.input.each !== undefined },
      refuseStep: (name) => refuseStep(name, step.name, named.indexOf),
    }
    const context = { names, jobNames, inherit }
    const read = attempt(onProblem, () => readStep(step, context))
    return read ? [{ ...read, needs: needs[index] ?? [] }] : []
  })
  // Without all of them, places would not be places any more.
  if (steps.length === named.steps.length && !circle) checkReferences(steps, named, onProblem)
  const early: Names = { ...jobNames, facts: EARLY_FACTS }
  return {
    steps,
    parameters,
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

function checkReferences(
  steps: readonly Step[],
  { indexOf }: NamedSteps,
  onProblem: OnProblem,
): void {
  const references = steps.flatMap((step, from) =>
    expressionsOf(step).flatMap((expression): Reference[] =>
      expression.steps.map((name) => ({ from, to: indexOf.get(name) as number, expression })),
    ),
  )
  const graph = {
    needs: steps.map(({ needs }) => needs),
    isFinally: (step: number) => steps[step]?.isFinally ?? false,
  }
  for (const { from, to, expression } of unmetReferences(references, graph)) {
    onProblem(unmet(expression, steps[from]?.name ?? '', steps[to]?.name ?? ''))
  }
}

/** Everything that is evaluated when a step is about to begin. */
export function expressionsOf({ condition, each, does }: Step): readonly Expression[] {
  return [
    ...(condition ? [condition] : []),
    ...(each ? expressionsIn(each) : []),
    ...(does.kind === 'approve'
      ? does.approval.message
        ? expressionsIn(does.approval.message)
        : []
      : [
          ...does.work.holes.flatMap(({ template }) => expressionsIn(template)),
          ...does.work.variables.map(([, value]) => value),
        ]),
  ]
}
