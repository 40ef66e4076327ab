import type { StepFact } from '../../src/core/workflow/progress/step-facts.ts'
import type { GraphStep } from '../../src/core/workflow/graph.ts'

/**
 * The next actions of a workflow, as the documentation defines them, found by evaluating every step from
 * scratch. Shares no code with the engine it checks.
 */
export interface KnownState {
  readonly steps: readonly GraphStep[]
  /** By `step`, or `step.item`. */
  readonly facts: ReadonlyMap<string, StepFact>
  /** Actions already requested and not yet confirmed. */
  readonly asked: ReadonlySet<string>
  readonly stop: 'cancelled' | 'timeout' | null
}

/** Everything that follows from the known facts, as sentences, in no particular order. */
export function nextActions(known: KnownState): Set<string> {
  const decisions = new Set<string>()
  const outcomes = new Map<number, PredictedOutcome>()
  const outcomeOf = (step: number): PredictedOutcome => {
    const found = outcomes.get(step)
    if (found) return found
    const outcome = findOutcome(known, step, outcomeOf, decisions)
    outcomes.set(step, outcome)
    return outcome
  }
  const all = known.steps.map((_, step) => outcomeOf(step))
  if (all.every((outcome) => outcome !== 'open')) decisions.add(endOf(known, all))
  return decisions
}

/** `cut`: skipped or cancelled because the workflow is being stopped. */
type PredictedOutcome =
  | 'open'
  | 'succeeded'
  | 'failed'
  | 'cancelled'
  | 'passed over'
  | 'left out'
  | 'cut'

function findOutcome(
  { steps, facts, asked, stop }: KnownState,
  step: number,
  outcomeOf: (step: number) => PredictedOutcome,
  decisions: Set<string>,
): PredictedOutcome {
  const { needs, when, isFinally } = steps[step] as GraphStep
  const fact = facts.get(`${step}`)
  const isUnwanted = stop !== null && when !== 'always' && !isFinally
  if (fact?.count != null && fact.state === 'running') {
    return fanOutOutcome({ steps, facts, asked, stop }, step, isUnwanted, decisions)
  }
  if (fact?.state === 'waiting' && isUnwanted) {
    decisions.add(`close ${step} cancelled`)
    return 'cancelled'
  }
  if (fact) return outcomeByFact(fact)
  if (asked.has(`${step}`)) return 'open'
  if (isUnwanted) {
    decisions.add(`skip ${step} ${stop}`)
    return 'cut'
  }
  const others = steps.flatMap((other, index) => (other.isFinally ? [] : [index]))
  if (isFinally && others.some((other) => outcomeOf(other) === 'open')) return 'open'
  const counted = isFinally && needs.length === 0 ? others : needs
  const may = mayStart(
    when,
    counted.map((need) => outcomeOf(need)),
  )
  if (may === undefined) return 'open'
  decisions.add(may ? `start ${step}` : `skip ${step} needs`)
  return may ? 'open' : 'left out'
}

function outcomeByFact({ state, reason }: StepFact): PredictedOutcome {
  if (state === 'running' || state === 'waiting') return 'open'
  if (state !== 'skipped') return state
  if (reason === 'condition' || reason === 'operator') return 'passed over'
  return reason === 'needs' ? 'left out' : 'cut'
}

/** `undefined`: depends on how the others end. */
function mayStart(
  when: GraphStep['when'],
  needs: readonly PredictedOutcome[],
): boolean | undefined {
  const isOk = (outcome: PredictedOutcome) => outcome === 'succeeded' || outcome === 'passed over'
  const isBad = (outcome: PredictedOutcome) => outcome === 'failed' || outcome === 'cancelled'
  const isOpen = (outcome: PredictedOutcome) => outcome === 'open'
  const isAllOver = !needs.some(isOpen)
  switch (when) {
    case 'always':
    case 'all-done':
      return isAllOver ? true : undefined
    case 'all-succeeded':
      if (!needs.every((outcome) => isOk(outcome) || isOpen(outcome))) return false
      return isAllOver ? true : undefined
    case 'none-failed':
      if (needs.some(isBad)) return false
      return isAllOver ? true : undefined
    case 'any-succeeded':
      if (needs.some(isOk)) return true
      return isAllOver ? false : undefined
    case 'any-failed':
      if (needs.some(isBad)) return true
      return isAllOver ? false : undefined
  }
}

function fanOutOutcome(
  { steps, facts, asked }: KnownState,
  step: number,
  isUnwanted: boolean,
  decisions: Set<string>,
): PredictedOutcome {
  const { maxParallel } = steps[step] as GraphStep
  const count = facts.get(`${step}`)?.count ?? 0
  const items = Array.from({ length: count }, (_, item) => {
    const fact = facts.get(`${step}.${item}`)
    if (fact) return outcomeByFact(fact)
    return asked.has(`${step}.${item}`) ? 'open' : 'untouched'
  })
  let live = items.filter((outcome) => outcome === 'open').length
  if (!isUnwanted) {
    for (const [item, outcome] of items.entries()) {
      if (outcome !== 'untouched' || live >= (maxParallel ?? Infinity)) continue
      decisions.add(`start ${step}.${item}`)
      live += 1
    }
    if (items.includes('untouched')) return 'open'
  }
  if (live > 0) return 'open'
  const isDone = items.every((outcome) => outcome === 'succeeded' || outcome === 'passed over')
  const state = items.includes('failed') ? 'failed' : isDone ? 'succeeded' : 'cancelled'
  decisions.add(`close ${step} ${state}`)
  return state
}

function endOf({ steps, stop }: KnownState, outcomes: readonly PredictedOutcome[]): string {
  const isBad = (outcome: PredictedOutcome, step: number) =>
    (outcome === 'failed' || outcome === 'cancelled') && !steps[step]?.mayFail
  const isCut = outcomes.some((outcome) => outcome === 'cut' || outcome === 'cancelled')
  if (stop !== null && (isCut || outcomes.some(isBad))) {
    return stop === 'timeout' ? 'end failed timeout' : 'end cancelled cancelled'
  }
  return outcomes.some(isBad) ? 'end failed error' : 'end succeeded'
}
