import type { StepFact } from '../../src/core/workflow/step-facts.ts'
import type { GraphStep } from '../../src/core/workflow/graph.ts'

/**
 * What should happen next in a flow, said as the documents say it and found by asking every step, every
 * time, from the beginning. It shares no line with the engine it judges.
 */
export interface Known {
  readonly steps: readonly GraphStep[]
  /** By `step`, or `step.item`. */
  readonly facts: ReadonlyMap<string, StepFact>
  /** What somebody was told to start and has not answered for. */
  readonly asked: ReadonlySet<string>
  readonly stop: 'cancelled' | 'timeout' | null
}

/** Everything that follows from what is known, as sentences, in no particular order. */
export function whatFollows(known: Known): Set<string> {
  const decisions = new Set<string>()
  const fates = new Map<number, Fate>()
  const fateOf = (step: number): Fate => {
    const found = fates.get(step)
    if (found) return found
    const fate = findFate(known, step, fateOf, decisions)
    fates.set(step, fate)
    return fate
  }
  const all = known.steps.map((_, step) => fateOf(step))
  if (all.every((fate) => fate !== 'open')) decisions.add(endOf(known, all))
  return decisions
}

/** `cut`: skipped, or cut off, because the flow is being stopped. */
type Fate = 'open' | 'succeeded' | 'failed' | 'cancelled' | 'passed over' | 'left out' | 'cut'

function findFate(
  { steps, facts, asked, stop }: Known,
  step: number,
  fateOf: (step: number) => Fate,
  decisions: Set<string>,
): Fate {
  const { needs, when, isFinally } = steps[step] as GraphStep
  const fact = facts.get(`${step}`)
  const isUnwanted = stop !== null && when !== 'always' && !isFinally
  if (fact?.count != null && fact.state === 'running') {
    return fanOutFate({ steps, facts, asked, stop }, step, isUnwanted, decisions)
  }
  if (fact?.state === 'waiting' && isUnwanted) {
    decisions.add(`close ${step} cancelled`)
    return 'cancelled'
  }
  if (fact) return fateByFact(fact)
  if (asked.has(`${step}`)) return 'open'
  if (isUnwanted) {
    decisions.add(`skip ${step} ${stop}`)
    return 'cut'
  }
  const others = steps.flatMap((other, index) => (other.isFinally ? [] : [index]))
  if (isFinally && others.some((other) => fateOf(other) === 'open')) return 'open'
  const counted = isFinally && needs.length === 0 ? others : needs
  const may = mayStart(
    when,
    counted.map((need) => fateOf(need)),
  )
  if (may === undefined) return 'open'
  decisions.add(may ? `start ${step}` : `skip ${step} needs`)
  return may ? 'open' : 'left out'
}

function fateByFact({ state, reason }: StepFact): Fate {
  if (state === 'running' || state === 'waiting') return 'open'
  if (state !== 'skipped') return state
  if (reason === 'condition' || reason === 'operator') return 'passed over'
  return reason === 'needs' ? 'left out' : 'cut'
}

/** `undefined`: that depends on how the others end. */
function mayStart(when: GraphStep['when'], needs: readonly Fate[]): boolean | undefined {
  const isOk = (fate: Fate) => fate === 'succeeded' || fate === 'passed over'
  const isBad = (fate: Fate) => fate === 'failed' || fate === 'cancelled'
  const isOpen = (fate: Fate) => fate === 'open'
  const isAllOver = !needs.some(isOpen)
  switch (when) {
    case 'always':
    case 'all-done':
      return isAllOver ? true : undefined
    case 'all-succeeded':
      if (!needs.every((fate) => isOk(fate) || isOpen(fate))) return false
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

function fanOutFate(
  { steps, facts, asked }: Known,
  step: number,
  isUnwanted: boolean,
  decisions: Set<string>,
): Fate {
  const { maxParallel } = steps[step] as GraphStep
  const count = facts.get(`${step}`)?.count ?? 0
  const items = Array.from({ length: count }, (_, item) => {
    const fact = facts.get(`${step}.${item}`)
    if (fact) return fateByFact(fact)
    return asked.has(`${step}.${item}`) ? 'open' : 'untouched'
  })
  let live = items.filter((fate) => fate === 'open').length
  if (!isUnwanted) {
    for (const [item, fate] of items.entries()) {
      if (fate !== 'untouched' || live >= (maxParallel ?? Infinity)) continue
      decisions.add(`start ${step}.${item}`)
      live += 1
    }
    if (items.includes('untouched')) return 'open'
  }
  if (live > 0) return 'open'
  const isDone = items.every((fate) => fate === 'succeeded' || fate === 'passed over')
  const state = items.includes('failed') ? 'failed' : isDone ? 'succeeded' : 'cancelled'
  decisions.add(`close ${step} ${state}`)
  return state
}

function endOf({ steps, stop }: Known, fates: readonly Fate[]): string {
  const isBad = (fate: Fate, step: number) =>
    (fate === 'failed' || fate === 'cancelled') && !steps[step]?.mayFail
  const isCut = fates.some((fate) => fate === 'cut' || fate === 'cancelled')
  if (stop !== null && (isCut || fates.some(isBad))) {
    return stop === 'timeout' ? 'end failed timeout' : 'end cancelled cancelled'
  }
  return fates.some(isBad) ? 'end failed error' : 'end succeeded'
}
