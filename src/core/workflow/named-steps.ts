import { PunctualError } from '../errors.ts'
import { LIMITS, NAME } from '../limits.ts'
import type { StepInput, WorkflowInput } from './definition.ts'
import { type OnProblem, wrongStep } from './problems.ts'

/** A step with its name, and the place where it stands in the definition. */
export interface NamedStep {
  readonly name: string
  readonly input: StepInput
  /** Such as `steps.load.` or `steps.3.`. */
  readonly at: string
}

export interface NamedSteps {
  readonly steps: readonly NamedStep[]
  /** A list runs top to bottom where nothing else is said. */
  readonly isList: boolean
  readonly indexOf: ReadonlyMap<string, number>
}

/** The steps of a definition in the order they were written in, whichever way that was. */
export function nameSteps(
  { steps = [] }: WorkflowInput,
  at: string,
  onProblem: OnProblem,
): NamedSteps {
  const isList = Array.isArray(steps)
  const count = isList ? steps.length : Object.keys(steps).length
  if (count > LIMITS.steps) throw tooMany(count, `${at}steps`)
  if (count === 0) {
    onProblem(wrongStep(`${at}steps`, 'there is no step, so there would be nothing to do'))
  }
  const named = isList
    ? inList(steps as readonly StepInput[], at)
    : inMap(steps as StepMap, at, onProblem)
  const indexOf = new Map<string, number>()
  for (const [index, { name, at: place }] of named.entries()) {
    const earlier = indexOf.get(name)
    if (earlier === undefined) indexOf.set(name, index)
    else {
      const message = `another step is called ${name} already, at ${named[earlier]?.at.slice(0, -1)}`
      onProblem(wrongStep(`${place}name`, message, 'Give every step a name of its own.'))
    }
    if (NAME.test(name)) continue
    onProblem(wrongStep(`${place}name`, `"${name.slice(0, 40)}" is not a name`, NAMES))
  }
  return { steps: named, isList, indexOf }
}

const NAMES = `A name has 1 to ${LIMITS.nameLength} of A-Z a-z 0-9 . _ - and starts with a letter or digit.`

function inList(steps: readonly StepInput[], at: string): NamedStep[] {
  return steps.map((input, index) => ({
    name: input.name ?? `step-${index + 1}`,
    input,
    at: `${at}steps.${index}.`,
  }))
}

type StepMap = Readonly<Record<string, StepInput>>

function inMap(steps: StepMap, at: string, onProblem: OnProblem): NamedStep[] {
  return Object.entries(steps).map(([name, input]) => {
    const place = `${at}steps.${name}.`
    if (input.name !== undefined) {
      const message = 'in a map, a step is called by its key'
      onProblem(wrongStep(`${place}name`, message, 'Leave it out, or write the steps as a list.'))
    }
    return { name, input, at: place }
  })
}

function tooMany(count: number, field: string): PunctualError {
  const message = `${field}: there are ${count} steps; a workflow has at most ${LIMITS.steps}`
  return new PunctualError('too_many_steps', message, { field })
}
