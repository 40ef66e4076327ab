import { isSettled, stepOutcomeOf, type StepFact } from '../progress/step-facts.ts'
import type { Graph } from '../graph.ts'
import type { StepRule } from '../definition.ts'
import { evaluateRule } from '../progress/step-rule.ts'

/** Why the rule of a skipped step could not be met. */
export interface SkipExplanation {
  readonly when: StepRule
  /** The needed steps whose outcome broke the rule; empty if the step has no needs. */
  readonly needs: readonly number[]
  /** The root causes: ancestors that were not themselves skipped because of other steps. */
  readonly origins: readonly number[]
}

/** Maximum number of named steps: a step may need 100,000 others. */
const MAX_NAMED = 10

/** For a step whose reason is `needs`; `factOf` returns facts of whole steps, not of items. */
export function explainSkip(
  graph: Graph,
  factOf: (step: number) => StepFact | undefined,
  step: number,
): SkipExplanation {
  const needs = decisiveNeeds(graph, factOf, step)
  const origins = new Set<number>()
  const seen = new Set(needs)
  // The loop also visits the steps that it adds.
  for (const found of seen) {
    if (origins.size === MAX_NAMED) break
    if (factOf(found)?.reason !== 'needs') origins.add(found)
    else for (const further of decisiveNeeds(graph, factOf, found)) seen.add(further)
  }
  return { when: graph.whenOf(step), needs: needs.slice(0, MAX_NAMED), origins: [...origins] }
}

/** The needed steps without which the rule could still be met: each one is evaluated as if it were the only need. */
function decisiveNeeds(
  graph: Graph,
  factOf: (step: number) => StepFact | undefined,
  step: number,
): readonly number[] {
  const when = graph.whenOf(step)
  const own = graph.needs.of(step)
  const isAboutAll = graph.isFinally(step) && own.length === 0
  const asked = isAboutAll ? graph.order.filter((other) => !graph.isFinally(other)) : own
  return Array.from(asked).filter((need) => {
    const fact = factOf(need)
    if (!fact || !isSettled(fact.state)) return false
    const outcome = stepOutcomeOf(fact.state, fact.reason)
    const alone = {
      total: 1,
      pending: 0,
      ok: outcome === 'ok' ? 1 : 0,
      failed: outcome === 'failed' ? 1 : 0,
    }
    return evaluateRule(when, alone) === 'never'
  })
}
