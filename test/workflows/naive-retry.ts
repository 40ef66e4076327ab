import type { StepFact } from '../../src/core/workflow/step-facts.ts'
import type { GraphStep } from '../../src/core/workflow/graph.ts'

/** A flow that is over, and what of it somebody wants to have done again. */
export interface Repeated {
  readonly steps: readonly GraphStep[]
  /** By `step`, or `step.item`. */
  readonly facts: ReadonlyMap<string, StepFact>
  readonly failed: boolean
  readonly from: ReadonlySet<number>
  readonly skip: ReadonlySet<number>
}

/** Whether a place may start in the repetition, as the documents say it, asked from the beginning each time. */
export function mayGoAgain(old: Repeated, step: number, item: number | null): boolean {
  const fate = fateIn(old, step)
  if (fate !== 'taken up') return fate === 'again'
  const fact = item === null ? undefined : old.facts.get(`${step}.${item}`)
  return fact === undefined || !isDone(fact)
}

type Fate = 'kept' | 'again' | 'taken up' | 'passed over'

function fateIn(old: Repeated, step: number): Fate {
  const { steps, facts, failed, from, skip } = old
  const { needs, isFinally } = steps[step] as GraphStep
  const fact = facts.get(`${step}`)
  if (skip.has(step)) return 'passed over'
  const isChanged = (other: number) => fateIn(old, other) !== 'kept'
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
