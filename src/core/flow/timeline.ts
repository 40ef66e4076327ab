import { type StepFact, WHOLE } from './facts.ts'
import type { Graph } from './graph.ts'
import type { StepState } from './step-state.ts'

/** A fact with its times, as the store has it. */
export interface TimedFact extends StepFact {
  /** When it was written down first: for a step with a run, when that was made. */
  readonly startedAt: number
  readonly finishedAt: number | null
}

/** How many items of a fan-out are in which state. */
export type ItemCounts = Readonly<Record<StepState | 'untouched', number>>

const NONE = { running: 0, waiting: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0 }

/** One row for people: a step, from when to when, and what its items do. */
export interface TimelineRow {
  readonly step: number
  readonly state: StepState | 'untouched'
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly items: ItemCounts | null
  /** The flow could not have ended sooner unless this had. */
  readonly isCritical: boolean
}

/** A row for every step, in the order of the definition, reached or not. */
export function timelineOf(graph: Graph, facts: Iterable<TimedFact>): TimelineRow[] {
  const wholes = new Array<TimedFact | undefined>(graph.size)
  const counts = new Map<number, Record<StepState, number>>()
  for (const fact of facts) {
    if (fact.item === WHOLE) wholes[fact.step] = fact
    else countItem(counts, fact)
  }
  const critical = new Set(criticalPath(graph, (step) => wholes[step]))
  return Array.from({ length: graph.size }, (_, step) => {
    const whole = wholes[step]
    return {
      step,
      state: whole?.state ?? 'untouched',
      startedAt: whole?.startedAt ?? null,
      finishedAt: whole?.finishedAt ?? null,
      items: whole?.count == null ? null : itemCounts(whole.count, counts.get(step)),
      isCritical: critical.has(step),
    }
  })
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
  let candidates: Iterable<number> = graph.order
  let until = Number.POSITIVE_INFINITY
  for (;;) {
    const last = lastOver(candidates, factOf, until)
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

/** Of some that are over by then, the one that was over last; of several, the first in line. */
function lastOver(
  steps: Iterable<number>,
  factOf: (step: number) => TimedFact | undefined,
  until: number,
): number | undefined {
  let last: number | undefined
  let lastAt = Number.NEGATIVE_INFINITY
  for (const step of steps) {
    const finishedAt = factOf(step)?.finishedAt ?? null
    if (finishedAt === null || finishedAt > until || finishedAt <= lastAt) continue
    last = step
    lastAt = finishedAt
  }
  return last
}

function countItem(counts: Map<number, Record<StepState, number>>, fact: TimedFact): void {
  const own = counts.get(fact.step) ?? { ...NONE }
  own[fact.state] += 1
  counts.set(fact.step, own)
}

function itemCounts(count: number, known: Record<StepState, number> = NONE): ItemCounts {
  const touched = Object.values(known).reduce((sum, some) => sum + some, 0)
  return { ...known, untouched: count - touched }
}
