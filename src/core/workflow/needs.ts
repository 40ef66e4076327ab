import { createEdgePacker, type Edges } from './edges.ts'
import { nearestName } from '../text/nearest.ts'
import type { Pausing } from '../pausing.ts'
import type { PunctualError } from '../errors.ts'
import type { NamedStep, NamedSteps } from './named-steps.ts'
import { type OnProblem, wrongStep } from './problems.ts'

/** What each step waits for, as places. What is wrong is told and left out. */
export function* readNeeds(named: NamedSteps, onProblem: OnProblem): Pausing<Edges> {
  const { steps, isList } = named
  const packer = createEdgePacker(steps.length)
  /** For every step who was the last to need it: a second time is a mistake. */
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
        const place = named.indexOf.get(name) ?? -1
        const refused = refusalOf(place, self, { steps, neededBy })
        if (refused === undefined) {
          neededBy[place] = self
          packer.add(place)
        } else {
          const field = isText ? `${step.at}needs` : `${step.at}needs.${nth}`
          onProblem(refused(field, name, named))
        }
      }
    } else if (isList && !isFinally && before !== undefined) packer.add(before)
    // What comes at the end of everything is nobody's predecessor, wherever it stands in the list.
    if (!isFinally) before = self
    packer.nextStep()
    yield
  }
  return packer.packed()
}

type Refusal = (field: string, name: string, named: NamedSteps) => PunctualError

/** How to tell that a step cannot need another; nothing if it can, as nearly always. */
function refusalOf(
  place: number,
  self: number,
  { steps, neededBy }: { steps: readonly NamedStep[]; neededBy: Int32Array },
): Refusal | undefined {
  if (place < 0) return unknown
  if (place === self) return needsItself
  if (neededBy[place] === self) return standsTwice
  const isLast = steps[place]?.input.finally === true && steps[self]?.input.finally !== true
  return isLast ? comesLast : undefined
}

const needsItself: Refusal = (field, name) =>
  wrongStep(field, `${name} needs itself: ${name} → ${name}`, NO_WAY_IN)

const standsTwice: Refusal = (field, name) => wrongStep(field, `${name} stands there twice`)

const comesLast: Refusal = (field, name) => {
  const message = `${name} is a finally step: it runs after everything that is none`
  return wrongStep(field, message, `Make this one a finally step too, or do not need ${name}.`)
}

const MOST_COMPARED = 1_000

const unknown: Refusal = (field, name, { indexOf }) => {
  // Comparing with a hundred thousand names would cost more than the advice is worth.
  const known = indexOf.size > MOST_COMPARED ? [] : [...indexOf.keys()]
  const meant = nearestName(name, known)
  const advice = meant === undefined ? '' : `; did you mean ${meant}?`
  return wrongStep(field, `there is no step ${name.slice(0, 64)}${advice}`)
}

export const NO_WAY_IN = 'Break the circle: none of its steps could ever begin.'
