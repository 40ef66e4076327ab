import type { GraphStep } from '../../src/core/workflow/graph.ts'
import { type KnownState, nextActions } from './naive-evaluator.ts'

type Steps = readonly GraphStep[]
type Facts = KnownState['facts']

const NO_STEP: KnownState['asked'] = new Set()

/**
 * Whether a step or an item may have started, given the facts known then. A rule that became true stays true:
 * without its own facts, the step would have to start now.
 */
export function isStartAllowed(steps: Steps, facts: Facts, place: string): boolean {
  const alone = steps.map((step) => ({ ...step, maxParallel: null }))
  const wouldStart = (one: string) =>
    nextActions({ steps: alone, facts: without(facts, one), asked: NO_STEP, stop: null }).has(
      `start ${one}`,
    )
  const [step = place] = place.split('.')
  return wouldStart(place) && (step === place || wouldStart(step))
}

/** Wrong outcomes of steps in an ended workflow, each as a sentence. */
export function wrongOutcomes(steps: Steps, facts: Facts): string[] {
  return steps.flatMap((_, step) => {
    const fact = facts.get(`${step}`)
    if (!fact || fact.reason === 'operator') return []
    // No rule decides these.
    if (fact.reason === 'cancelled' || fact.reason === 'timeout') return []
    const others = without(facts, `${step}`)
    const follows = nextActions({ steps, facts: others, asked: NO_STEP, stop: null })
    const right = fact.reason === 'needs' ? `skip ${step} needs` : `start ${step}`
    if (follows.has(right)) return []
    return [`step ${step} is ${fact.state} ${fact.reason ?? ''}`.trim()]
  })
}

/** Allowed ends of a workflow with these facts, when ending is the only remaining action. */
export function allowedEnds(
  steps: Steps,
  facts: Facts,
  stops: readonly KnownState['stop'][],
): string[] {
  return stops.map((stop) => [...nextActions({ steps, facts, asked: NO_STEP, stop })].join(', '))
}

/** Possible reasons for stopping a workflow under these circumstances. */
export function possibleStops(
  facts: Facts,
  befell: { readonly isCancelled: boolean; readonly isLate: boolean },
): KnownState['stop'][] {
  const reasons = new Set(Array.from(facts.values(), ({ reason }) => reason))
  if (reasons.has('timeout')) return ['timeout']
  if (reasons.has('cancelled')) return ['cancelled']
  const stops: KnownState['stop'][] = [null]
  if (befell.isCancelled) stops.push('cancelled')
  if (befell.isLate) stops.push('timeout')
  return stops
}

/** By `step`, or `step.item`. */
export function placeOf(step: number, item: number | null): string {
  return item === null || item < 0 ? `${step}` : `${step}.${item}`
}

/** The facts without those of a place and of its items. */
function without(facts: Facts, place: string): Facts {
  return new Map([...facts].filter(([other]) => other !== place && !other.startsWith(`${place}.`)))
}
