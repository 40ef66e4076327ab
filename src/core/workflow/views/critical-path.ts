import type { StepFact } from '../progress/step-facts.ts'
import type { Graph } from '../graph.ts'

/** A fact with its times, as stored. */
export interface TimedFact extends StepFact {
  /** When the fact was first stored: for a step with a run, when the run was created. */
  readonly startedAt: number
  readonly finishedAt: number | null
}

/**
 * The steps that determined when the workflow ended, first to last. The path starts at the step that ended last and
 * goes back each time to the need that ended last before the step could start. Skipped steps took no time and are
 * left out.
 */
export function criticalPath(
  graph: Graph,
  factOf: (step: number) => TimedFact | undefined,
): number[] {
  const path: number[] = []
  const positionOf = new Uint32Array(graph.size)
  for (const [place, step] of graph.order.entries()) positionOf[step] = place
  let candidates: Iterable<number> = graph.order
  let until = Number.POSITIVE_INFINITY
  for (;;) {
    const last = lastEndedBy(candidates, factOf, until, positionOf)
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
 * The step that ended last among those that ended by the given time. Steps may start and end within the same
 * millisecond as their needs; of several equal ones, the last in topological order is taken.
 */
function lastEndedBy(
  steps: Iterable<number>,
  factOf: (step: number) => TimedFact | undefined,
  until: number,
  positionOf: Uint32Array,
): number | undefined {
  let last: number | undefined
  let lastAt = Number.NEGATIVE_INFINITY
  for (const step of steps) {
    const finishedAt = factOf(step)?.finishedAt ?? null
    if (finishedAt === null || finishedAt > until || finishedAt < lastAt) continue
    const isAsLate = last !== undefined && finishedAt === lastAt
    if (isAsLate && (positionOf[step] as number) < (positionOf[last as number] as number)) continue
    last = step
    lastAt = finishedAt
  }
  return last
}
