import type { GraphStep } from '../../src/core/workflow/graph.ts'
import { type Known, whatFollows } from './naive-evaluator.ts'

type Steps = readonly GraphStep[]
type Facts = Known['facts']

const NOBODY: Known['asked'] = new Set()

/**
 * Whether a step, or one of its items, may have started, by what was known then. What made its rule come
 * true stays true: without what is known of itself it would have to start now.
 */
export function isInTime(steps: Steps, facts: Facts, place: string): boolean {
  const alone = steps.map((step) => ({ ...step, maxParallel: null }))
  const wouldStart = (one: string) =>
    whatFollows({ steps: alone, facts: without(facts, one), asked: NOBODY, stop: null }).has(
      `start ${one}`,
    )
  const [step = place] = place.split('.')
  return wouldStart(place) && (step === place || wouldStart(step))
}

/** What is wrong with how the steps of a flow that is over have come out, each as a sentence. */
export function wrongFates(steps: Steps, facts: Facts): string[] {
  return steps.flatMap((_, step) => {
    const fact = facts.get(`${step}`)
    if (!fact || fact.reason === 'operator') return []
    // Those were not decided by any rule.
    if (fact.reason === 'cancelled' || fact.reason === 'timeout') return []
    const others = without(facts, `${step}`)
    const follows = whatFollows({ steps, facts: others, asked: NOBODY, stop: null })
    const right = fact.reason === 'needs' ? `skip ${step} needs` : `start ${step}`
    if (follows.has(right)) return []
    return [`step ${step} is ${fact.state} ${fact.reason ?? ''}`.trim()]
  })
}

/** How a flow may end of which this is known: nothing is left to be done but that. */
export function rightEnds(steps: Steps, facts: Facts, stops: readonly Known['stop'][]): string[] {
  return stops.map((stop) => [...whatFollows({ steps, facts, asked: NOBODY, stop })].join(', '))
}

/** Ways in which a flow may have been stopped, if these things befell it. */
export function possibleStops(
  facts: Facts,
  befell: { readonly isCancelled: boolean; readonly isLate: boolean },
): Known['stop'][] {
  const reasons = new Set(Array.from(facts.values(), ({ reason }) => reason))
  if (reasons.has('timeout')) return ['timeout']
  if (reasons.has('cancelled')) return ['cancelled']
  const stops: Known['stop'][] = [null]
  if (befell.isCancelled) stops.push('cancelled')
  if (befell.isLate) stops.push('timeout')
  return stops
}

/** By `step`, or `step.item`. */
export function placeOf(step: number, item: number | null): string {
  return item === null || item < 0 ? `${step}` : `${step}.${item}`
}

/** Without what is known of a place, and of its items. */
function without(facts: Facts, place: string): Facts {
  return new Map([...facts].filter(([other]) => other !== place && !other.startsWith(`${place}.`)))
}
