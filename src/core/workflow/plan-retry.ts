import { isSettled, outcomeOf, type StepFact, WHOLE } from './step-facts.ts'
import type { Graph } from './graph.ts'

/** What somebody wants to have done again of a flow that is over. */
export interface RetryWish {
  /** What failed. What was cancelled, or kept from starting by the end of the flow, goes again anyway. */
  readonly failed?: boolean | undefined
  /** These steps, whatever became of them. */
  readonly from?: readonly number[] | undefined
  /** These count as done from now on, and what depends on them is decided again. */
  readonly skip?: readonly number[] | undefined
}

export interface RetryPlan<Fact extends StepFact> {
  /** What the new flow begins with; of a fan-out that is taken up again, the items that are done. */
  readonly kept: readonly Fact[]
  /** Steps that start from nothing, if they start: their rules are asked again. */
  readonly again: readonly number[]
  /** Fan-outs of which only the items that are not done run again. */
  readonly takenUp: readonly number[]
}

const KEPT = 0
const AGAIN = 1
const TAKEN_UP = 2
const SKIPPED = 3

/**
 * What is wanted again goes again, and so does everything that depends on it; `finally` steps depend on
 * all the others. A fan-out of which some items failed is taken up where it was left, unless something
 * it depends on goes again: its items may be other ones then.
 */
export function planRetry<Fact extends StepFact>(
  graph: Graph,
  facts: readonly Fact[],
  wish: RetryWish,
): RetryPlan<Fact> {
  const wholes = new Map<number, Fact>()
  for (const fact of facts) if (fact.item === WHOLE) wholes.set(fact.step, fact)
  const fates = findFates(graph, wholes, wish)
  const stepsOf = (fate: number) => Array.from(fates.keys()).filter((step) => fates[step] === fate)
  return {
    kept: facts.flatMap((fact): Fact[] => {
      const fate = fates[fact.step]
      if (fate === KEPT) return [fact]
      if (fate !== TAKEN_UP) return []
      if (fact.item === WHOLE) return [{ ...fact, state: 'running', reason: null }]
      return isDone(fact) ? [fact] : []
    }),
    again: stepsOf(AGAIN),
    takenUp: stepsOf(TAKEN_UP),
  }
}

function findFates(
  graph: Graph,
  wholes: ReadonlyMap<number, StepFact>,
  { failed = false, from = [], skip = [] }: RetryWish,
): Uint8Array {
  const fates = new Uint8Array(graph.size)
  const wanted = new Set(from)
  const skipped = new Set(skip)
  let isAnyMoved = false
  // Every step comes after those it needs, and those that are `finally` come last.
  for (const step of graph.order) {
    const fact = wholes.get(step)
    const isMoved =
      (isAnyMoved && graph.isFinally(step)) ||
      graph.needs.of(step).some((need) => fates[need] !== KEPT)
    if (skipped.has(step)) fates[step] = SKIPPED
    else if (isMoved || wanted.has(step)) fates[step] = AGAIN
    else if (isCutShort(fact) || (failed && fact?.state === 'failed')) {
      fates[step] = canTakeUp(fact) ? TAKEN_UP : AGAIN
    }
    if (fates[step] !== KEPT && !graph.isFinally(step)) isAnyMoved = true
  }
  return fates
}

function isDone({ state, reason }: StepFact): boolean {
  return isSettled(state) && outcomeOf(state, reason) === 'ok'
}

/** Nobody wants to have it stay like that: it was never decided by what the flow itself says. */
function isCutShort(fact: StepFact | undefined): boolean {
  if (fact === undefined || !isSettled(fact.state)) return true
  const { state, reason } = fact
  return state === 'cancelled' || reason === 'cancelled' || reason === 'timeout'
}

function canTakeUp(fact: StepFact | undefined): boolean {
  return fact !== undefined && fact.count !== null
}
