import { isSettled, outcomeOf, type StepFact } from './step-facts.ts'
import type { Graph } from './graph.ts'
import type { When } from './definition.ts'
import { judge } from './step-rule.ts'

/** Why the rule of a step that was skipped could not come true. */
export interface SkipStory {
  readonly when: When
  /** The steps it needs that were not as the rule wants them; empty if there were none to choose from. */
  readonly needs: readonly number[]
  /** Where it began: those of its ancestors that were not themselves skipped because of others. */
  readonly origins: readonly number[]
}

/** At most so many are named: a step may need 100,000 others, and nobody reads that. */
const MOST_NAMED = 10

/** For a step whose reason is `needs`; `factOf` knows the steps themselves, not their items. */
export function whySkipped(
  graph: Graph,
  factOf: (step: number) => StepFact | undefined,
  step: number,
): SkipStory {
  const needs = spoilers(graph, factOf, step)
  const origins = new Set<number>()
  const seen = new Set(needs)
  // What is found while walking is walked through as well.
  for (const found of seen) {
    if (origins.size === MOST_NAMED) break
    if (factOf(found)?.reason !== 'needs') origins.add(found)
    else for (const further of spoilers(graph, factOf, found)) seen.add(further)
  }
  return { when: graph.whenOf(step), needs: needs.slice(0, MOST_NAMED), origins: [...origins] }
}

/** Those without whom the rule could still have come true: each is asked as if it were the only one. */
function spoilers(
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
    const outcome = outcomeOf(fact.state, fact.reason)
    const alone = {
      ...{ total: 1, left: 0 },
      ok: outcome === 'ok' ? 1 : 0,
      failed: outcome === 'failed' ? 1 : 0,
    }
    return judge(when, alone) === 'never'
  })
}
