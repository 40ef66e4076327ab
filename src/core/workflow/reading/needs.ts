import { createEdgePacker, type Edges } from '../edges.ts'
import { nearestName } from '../../text/nearest.ts'
import type { Pausing } from '../../pausing.ts'
import type { PunctualError } from '../../errors.ts'
import type { NamedStep, NamedSteps } from './named-steps.ts'
import { type OnProblem, workflowError } from '../problems.ts'

/** The needs of each step, as indices. Invalid needs are reported and left out. */
export function* readNeeds(named: NamedSteps, onProblem: OnProblem): Pausing<Edges> {
  const { steps, isList } = named
  const packer = createEdgePacker(steps.length)
  /** For every step, the last step that needed it: a second time is a duplicate. */
  const neededBy = new Int32Array(steps.length).fill(-1)
  let before: number | undefined
  for (let self = 0; self < steps.length; self += 1) {
    const step = steps[self] as NamedStep
    const { needs, finally: isFinally = false } = step.input
    if (needs !== undefined) {
      const isText = typeof needs === 'string'
      const names = isText ? [needs] : needs
      for (let nth = 0; nth < names.length; nth += 1) {
        const name = names[nth] as string
        const index = named.indexOf.get(name) ?? -1
        const problem = findProblem(index, self, { steps, neededBy })
        if (problem === undefined) {
          neededBy[index] = self
          packer.add(index)
        } else {
          const field = isText ? `${step.at}needs` : `${step.at}needs.${nth}`
          onProblem(problem(field, name, named))
        }
      }
    } else if (isList && !isFinally && before !== undefined) packer.add(before)
    // A `finally` step is not the predecessor of the next step in the list.
    if (!isFinally) before = self
    packer.nextStep()
    yield
  }
  return packer.packed()
}

type NeedProblem = (field: string, name: string, named: NamedSteps) => PunctualError

/** The function that creates the error for an invalid need; undefined for a valid one. */
function findProblem(
  index: number,
  self: number,
  { steps, neededBy }: { steps: readonly NamedStep[]; neededBy: Int32Array },
): NeedProblem | undefined {
  if (index < 0) return unknown
  if (index === self) return needsItself
  if (neededBy[index] === self) return duplicate
  const isLast = steps[index]?.input.finally === true && steps[self]?.input.finally !== true
  return isLast ? finallyStep : undefined
}

const needsItself: NeedProblem = (field, name) =>
  workflowError(field, `${name} needs itself: ${name} → ${name}`, STEP_CYCLE_HINT)

const duplicate: NeedProblem = (field, name) => workflowError(field, `${name} is listed twice`)

const finallyStep: NeedProblem = (field, name) => {
  const message = `${name} is a finally step: it runs after all other steps`
  return workflowError(field, message, `Make this one a finally step too, or do not need ${name}.`)
}

const MAX_COMPARED = 1_000

const unknown: NeedProblem = (field, name, { indexOf }) => {
  // Comparing with a hundred thousand names would be too slow for a suggestion.
  const known = indexOf.size > MAX_COMPARED ? [] : [...indexOf.keys()]
  const suggestion = nearestName(name, known)
  const advice = suggestion === undefined ? '' : `; did you mean ${suggestion}?`
  return workflowError(field, `there is no step ${name.slice(0, 64)}${advice}`)
}

export const STEP_CYCLE_HINT = 'Break the cycle: none of its steps could ever start.'
