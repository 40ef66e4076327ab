import type { StepOutcome } from './step-facts.ts'
import type { Graph } from '../graph.ts'
import { evaluateRule, type RuleVerdict } from './step-rule.ts'

/** Counters of the outcomes of the needs, for every step of a workflow. */
export interface NeedCounters {
  /** Counts the end of a step for the steps that need it. */
  count(step: number, outcome: StepOutcome): void
  verdict(step: number): RuleVerdict
  /** Whether only `finally` steps are left. */
  readonly areOrdinaryStepsDone: boolean
}

export function createNeedCounters({
  size,
  needs,
  neededBy,
  isFinally,
  ...graph
}: Graph): NeedCounters {
  const pending = new Uint32Array(size)
  for (let step = 0; step < size; step += 1) pending[step] = needs.countOf(step)
  const ok = new Uint32Array(size)
  const failed = new Uint32Array(size)
  const ordinary = size - graph.finallySteps.length
  const all = { total: ordinary, pending: ordinary, ok: 0, failed: 0 }

  const countsOf = (step: number) => ({
    total: needs.countOf(step),
    pending: pending[step] as number,
    ok: ok[step] as number,
    failed: failed[step] as number,
  })

  return {
    count(step, outcome) {
      const counts = outcome === 'ok' ? ok : outcome === 'failed' ? failed : null
      for (const next of neededBy.of(step)) {
        pending[next] = (pending[next] as number) - 1
        if (counts) counts[next] = (counts[next] as number) + 1
      }
      if (isFinally(step)) return
      all.pending -= 1
      if (outcome !== 'skipped') all[outcome] += 1
    },
    verdict(step) {
      if (!isFinally(step)) return evaluateRule(graph.whenOf(step), countsOf(step))
      // A `finally` step waits for all ordinary steps, even if its own needs already decide its rule.
      if (all.pending > 0) return 'not yet'
      const isAboutAll = needs.countOf(step) === 0
      return evaluateRule(graph.whenOf(step), isAboutAll ? all : countsOf(step))
    },
    get areOrdinaryStepsDone() {
      return all.pending === 0
    },
  }
}
