import { isSettled, stepOutcomeOf, type StepFact, WHOLE_STEP } from './step-facts.ts'
import type { Graph } from '../graph.ts'

/** The parts of an ended workflow that a retry runs again. */
export interface RetryScope {
  /** Failed steps. Steps that were cancelled, or not started because the workflow ended, always run again. */
  readonly failed?: boolean | undefined
  /** These steps, whatever their state. */
  readonly from?: readonly number[] | undefined
  /** These steps count as done, and the steps that depend on them are decided again. */
  readonly skip?: readonly number[] | undefined
}

export interface RetryPlan<Fact extends StepFact> {
  /** The facts that the new workflow starts with; for a resumed fan-out, those of the items that are done. */
  readonly kept: readonly Fact[]
  /** Steps that start from the beginning, if their rules allow it. */
  readonly restarted: readonly number[]
  /** Fan-outs of which only the items that are not done run again. */
  readonly resumed: readonly number[]
}

const KEPT = 0
const RESTARTED = 1
const RESUMED = 2
const SKIPPED = 3

/**
 * The requested steps run again, and so does every step that depends on them; `finally` steps depend on all others. A
 * fan-out with failed items is resumed, unless something it depends on runs again: its items may then be different.
 */
export function planRetry<Fact extends StepFact>(
  graph: Graph,
  facts: readonly Fact[],
  scope: RetryScope,
): RetryPlan<Fact> {
  const stepFacts = new Map<number, Fact>()
  for (const fact of facts) if (fact.item === WHOLE_STEP) stepFacts.set(fact.step, fact)
  const treatments = chooseTreatments(graph, stepFacts, scope)
  const stepsOf = (treatment: number) =>
    Array.from(treatments.keys()).filter((step) => treatments[step] === treatment)
  return {
    kept: facts.flatMap((fact): Fact[] => {
      const treatment = treatments[fact.step]
      if (treatment === KEPT) return [fact]
      if (treatment !== RESUMED) return []
      if (fact.item === WHOLE_STEP) return [{ ...fact, state: 'running', reason: null }]
      return isDone(fact) ? [fact] : []
    }),
    restarted: stepsOf(RESTARTED),
    resumed: stepsOf(RESUMED),
  }
}

function chooseTreatments(
  graph: Graph,
  stepFacts: ReadonlyMap<number, StepFact>,
  { failed = false, from = [], skip = [] }: RetryScope,
): Uint8Array {
  const treatments = new Uint8Array(graph.size)
  const wanted = new Set(from)
  const skipped = new Set(skip)
  let hasAnyChange = false
  // Topological order: every step comes after its needs, and `finally` steps come last.
  for (const step of graph.order) {
    const fact = stepFacts.get(step)
    const dependsOnChange =
      (hasAnyChange && graph.isFinally(step)) ||
      graph.needs.of(step).some((need) => treatments[need] !== KEPT)
    if (skipped.has(step)) treatments[step] = SKIPPED
    else if (dependsOnChange || wanted.has(step)) treatments[step] = RESTARTED
    else if (wasInterrupted(fact) || (failed && fact?.state === 'failed')) {
      treatments[step] = canResume(fact) ? RESUMED : RESTARTED
    }
    if (treatments[step] !== KEPT && !graph.isFinally(step)) hasAnyChange = true
  }
  return treatments
}

function isDone({ state, reason }: StepFact): boolean {
  return isSettled(state) && stepOutcomeOf(state, reason) === 'ok'
}

/** Whether the state was caused by the end of the workflow and not by the step's own rules. */
function wasInterrupted(fact: StepFact | undefined): boolean {
  if (fact === undefined || !isSettled(fact.state)) return true
  const { state, reason } = fact
  return state === 'cancelled' || reason === 'cancelled' || reason === 'timeout'
}

function canResume(fact: StepFact | undefined): boolean {
  return fact !== undefined && fact.count !== null
}
