import type { StepFact } from './step-facts.ts'
import type { Graph } from './graph.ts'

/** A fact with its times, as the store has it. */
export interface TimedFact extends StepFact {
  /** When it was written down first: for a step with a run, when that was made. */
  readonly startedAt: number
  readonly finishedAt: number | null
}

/**
 * The steps that decided when the flow ended, first to last: from the one that ended last, each time
 * back to the need that was over last before it could start. What was skipped took no time and is left out.
 */
export function criticalPath(
  graph: Graph,
  factOf: (step: number) => TimedFact | undefined,
): number[] {
  const path: number[] = []
  const placeOf = new Uint32Array(graph.size)
  for (const [place, step] of graph.order.entries()) placeOf[step] = place
  let candidates: Iterable<number> = graph.order
  let until = Number.POSITIVE_INFINITY
  for (;;) {
    const last = lastOver(candidates, factOf, until, placeOf)
    if (last === undefined) break
    const { state, startedAt } = factOf(last) as TimedFact
    if (state !== 'skipped') path.push(last)
    const needs = graph.needs.of(last)
    candidates =
      graph.isFinally(last) && needs.length === 0
        ? graph.order.filter((step) => !graph.isFinally(step))
        : needs
    until = startedAt
  }
  return path.toReversed()
}

/**
 * Of some that are over by then, the one that was over last. Steps may begin and end within the millisecond
 * in which what they need has ended: of several, the one after the others.
 */
function lastOver(
  steps: Iterable<number>,
  factOf: (step: number) => TimedFact | undefined,
  until: number,
  placeOf: Uint32Array,
): number | undefined {
  let last: number | undefined
  let lastAt = Number.NEGATIVE_INFINITY
  for (const step of steps) {
    const finishedAt = factOf(step)?.finishedAt ?? null
    if (finishedAt === null || finishedAt > until || finishedAt < lastAt) continue
    const isAsLate = last !== undefined && finishedAt === lastAt
    if (isAsLate && (placeOf[step] as number) < (placeOf[last as number] as number)) continue
    last = step
    lastAt = finishedAt
  }
  return last
}
