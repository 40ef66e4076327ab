import type { Outcome } from './step-facts.ts'
import type { Graph } from './graph.ts'
import { judge, type Verdict } from './step-rule.ts'

/** How those that a step needs have ended so far, for every step of a flow. */
export interface Tallies {
  /** A step has ended: counts for those who need it. */
  count(step: number, outcome: Outcome): void
  verdict(step: number): Verdict
  /** Whether only `finally` steps are left. */
  readonly isOrdinaryOver: boolean
}

export function createTallies({ size, needs, neededBy, isFinally, ...graph }: Graph): Tallies {
  const left = new Uint32Array(size)
  for (let step = 0; step < size; step += 1) left[step] = needs.countOf(step)
  const ok = new Uint32Array(size)
  const failed = new Uint32Array(size)
  const ordinary = size - graph.finallySteps.length
  const all = { total: ordinary, left: ordinary, ok: 0, failed: 0 }

  const tallyOf = (step: number) => ({
    total: needs.countOf(step),
    left: left[step] as number,
    ok: ok[step] as number,
    failed: failed[step] as number,
  })

  return {
    count(step, outcome) {
      const counts = outcome === 'ok' ? ok : outcome === 'failed' ? failed : null
      for (const next of neededBy.of(step)) {
        left[next] = (left[next] as number) - 1
        if (counts) counts[next] = (counts[next] as number) + 1
      }
      if (isFinally(step)) return
      all.left -= 1
      if (outcome !== 'skipped') all[outcome] += 1
    },
    verdict(step) {
      if (!isFinally(step)) return judge(graph.whenOf(step), tallyOf(step))
      // Early is not what `finally` means, even where its own needs have decided already.
      if (all.left > 0) return 'not yet'
      const isAboutAll = needs.countOf(step) === 0
      return judge(graph.whenOf(step), isAboutAll ? all : tallyOf(step))
    },
    get isOrdinaryOver() {
      return all.left === 0
    },
  }
}
