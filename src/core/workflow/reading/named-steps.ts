import { PunctualError } from '../../errors.ts'
import { LIMITS, NAME } from '../../limits.ts'
import type { Pausing } from '../../pausing.ts'
import type { StepInput, WorkflowInput } from '../definition.ts'
import { type OnProblem, workflowError } from '../problems.ts'

/** A step with its name and its field in the definition. */
export interface NamedStep {
  readonly name: string
  readonly input: StepInput
  /** Such as `steps.load.` or `steps.3.`. */
  readonly at: string
}

export interface NamedSteps {
  readonly steps: readonly NamedStep[]
  /** Whether the steps are a list, which runs top to bottom by default. */
  readonly isList: boolean
  readonly indexOf: ReadonlyMap<string, number>
}

/** The steps of a definition in written order, from a list or a map. */
export function* nameSteps(
  { steps: input = [] }: WorkflowInput,
  at: string,
  onProblem: OnProblem,
): Pausing<NamedSteps> {
  const isList = Array.isArray(input)
  const count = checkStepCount(input, at)
  yield
  if (count === 0) {
    onProblem(workflowError(`${at}steps`, 'there are no steps, so there is nothing to run'))
  }
  const steps: NamedStep[] = []
  const indexOf = new Map<string, number>()
  const said = isList ? inList(input as StepList, at) : inMap(input as StepMap, at, onProblem)
  for (const step of said) {
    const { name, at: place } = step
    const earlier = indexOf.get(name)
    if (earlier === undefined) indexOf.set(name, steps.length)
    else {
      const message = `the name ${name} is already used by ${steps[earlier]?.at.slice(0, -1)}`
      onProblem(workflowError(`${place}name`, message, 'Give every step its own name.'))
    }
    if (!NAME.test(name)) {
      onProblem(workflowError(`${place}name`, `"${name.slice(0, 40)}" is not a name`, NAMES))
    }
    steps.push(step)
    yield
  }
  return { steps, isList, indexOf }
}

const NAMES = `A name has 1 to ${LIMITS.nameLength} of A-Z a-z 0-9 . _ - and starts with a letter or digit.`

type StepList = readonly StepInput[]
type StepMap = Readonly<Record<string, StepInput>>

function* inList(steps: StepList, at: string): Generator<NamedStep> {
  for (const [index, input] of steps.entries()) {
    yield { name: input.name ?? `step-${index + 1}`, input, at: `${at}steps.${index}.` }
  }
}

function* inMap(steps: StepMap, at: string, onProblem: OnProblem): Generator<NamedStep> {
  for (const name of Object.keys(steps)) {
    const input = steps[name] as StepInput
    const place = `${at}steps.${name}.`
    if (input.name !== undefined) {
      const message = 'in a map, the key is the name of the step'
      onProblem(
        workflowError(`${place}name`, message, 'Leave it out, or write the steps as a list.'),
      )
    }
    yield { name, input, at: place }
  }
}

/** Throws if there are more steps than a workflow may have. */
export function checkStepCount(steps: object, at = ''): number {
  const count = Array.isArray(steps) ? steps.length : Object.keys(steps).length
  if (count <= LIMITS.steps) return count
  const field = `${at}steps`
  const message = `${field}: there are ${count} steps; a workflow has at most ${LIMITS.steps}`
  throw new PunctualError('too_many_steps', message, { field })
}
