import type { StepFact } from '../../src/core/workflow/progress/step-facts.ts'
import type { GraphStep } from '../../src/core/workflow/graph.ts'

/** An ended workflow and the parts of it to retry. */
export interface RetryFacts {
  readonly steps: readonly GraphStep[]
  /** By `step`, or `step.item`. */
  readonly facts: ReadonlyMap<string, StepFact>
  readonly failed: boolean
  readonly from: ReadonlySet<number>
  readonly skip: ReadonlySet<number>
}

/** Whether a place may start in the retry, as the documentation defines it, evaluated from scratch. */
export function mayRunAgain(old: RetryFacts, step: number, item: number | null): boolean {
  const outcome = outcomeIn(old, step)
  if (outcome !== 'taken up') return outcome === 'again'
  const fact = item === null ? undefined : old.facts.get(`${step}.${item}`)
  return fact === undefined || !isDone(fact)
}

type PredictedOutcome = 'kept' | 'again' | 'taken up' | 'passed over'

function outcomeIn(old: RetryFacts, step: number): PredictedOutcome {
  const { steps, facts, failed, from, skip } = old
  const { needs, isFinally } = steps[step] as GraphStep
  const fact = facts.get(`${step}`)
  if (skip.has(step)) return 'passed over'
  const isChanged = (other: number) => outcomeIn(old, other) !== 'kept'
  const others = isFinally ? steps.flatMap((one, at) => (one.isFinally ? [] : [at])) : []
  if (from.has(step) || [...needs, ...others].some(isChanged)) return 'again'
  if (fact && !isCutShort(fact) && !(failed && fact.state === 'failed')) return 'kept'
  return fact && fact.count !== null ? 'taken up' : 'again'
}

function isDone({ state, reason }: StepFact): boolean {
  if (state === 'skipped') return reason === 'condition' || reason === 'operator'
  return state === 'succeeded'
}

function isCutShort({ state, reason }: StepFact): boolean {
  const isOver = state !== 'running' && state !== 'waiting'
  return !isOver || state === 'cancelled' || reason === 'cancelled' || reason === 'timeout'
}
