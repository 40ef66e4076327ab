import { nearestName } from '../nearest.ts'
import type { Pausing } from '../pausing.ts'
import type { NamedStep, NamedSteps } from './named-steps.ts'
import { type OnProblem, wrongStep } from './problems.ts'

/** What each step waits for, as places. What is wrong is told and left out. */
export function* readNeeds(
  named: NamedSteps,
  onProblem: OnProblem,
): Pausing<(readonly number[])[]> {
  const { steps, isList } = named
  const all: (readonly number[])[] = []
  let before: number | undefined
  for (const [index, step] of steps.entries()) {
    const { needs, finally: isFinally = false } = step.input
    const implied = isList && !isFinally && before !== undefined ? [before] : []
    // What comes at the end of everything is nobody's predecessor, wherever it stands in the list.
    if (!isFinally) before = index
    all.push(needs === undefined ? implied : placesOf(step, index, named, onProblem))
    yield
  }
  return all
}

function placesOf(
  { input, at }: NamedStep,
  self: number,
  { steps, indexOf }: NamedSteps,
  onProblem: OnProblem,
): readonly number[] {
  const isText = typeof input.needs === 'string'
  const names = isText ? [input.needs] : (input.needs ?? [])
  const places = new Set<number>()
  for (let nth = 0; nth < names.length; nth += 1) {
    const name = names[nth] as string
    const place = indexOf.get(name)
    const fieldOf = () => (isText ? `${at}needs` : `${at}needs.${nth}`)
    const problem =
      place === undefined
        ? unknown(fieldOf(), name, indexOf)
        : refusePlace(fieldOf, place, self, { steps, places })
    if (problem) onProblem(problem)
    else places.add(place as number)
  }
  return [...places]
}

function refusePlace(
  fieldOf: () => string,
  place: number,
  self: number,
  { steps, places }: Pick<NamedSteps, 'steps'> & { places: ReadonlySet<number> },
) {
  const { name, input } = steps[place] as NamedStep
  if (place === self)
    return wrongStep(fieldOf(), `${name} needs itself: ${name} → ${name}`, NO_WAY_IN)
  if (places.has(place)) return wrongStep(fieldOf(), `${name} stands there twice`)
  const isLast = input.finally === true && steps[self]?.input.finally !== true
  if (!isLast) return undefined
  const message = `${name} is a finally step: it runs after everything that is none`
  return wrongStep(fieldOf(), message, `Make this one a finally step too, or do not need ${name}.`)
}

const MOST_COMPARED = 1_000

function unknown(field: string, name: string, indexOf: ReadonlyMap<string, number>) {
  // Comparing with a hundred thousand names would cost more than the advice is worth.
  const known = indexOf.size > MOST_COMPARED ? [] : [...indexOf.keys()]
  const meant = nearestName(name, known)
  const advice = meant === undefined ? '' : `; did you mean ${meant}?`
  return wrongStep(field, `there is no step ${name.slice(0, 64)}${advice}`)
}

export const NO_WAY_IN = 'Break the circle: none of its steps could ever begin.'
