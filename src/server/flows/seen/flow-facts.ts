import type { StepReason } from '../../../core/flow/facts.ts'
import { WHOLE } from '../../../core/flow/facts.ts'
import type { Graph } from '../../../core/flow/graph.ts'
import { type TimelineRow, timelineOf } from '../../../core/flow/timeline.ts'
import type { StepRecord } from '../../../store/port.ts'

/** Of a fan-out, so many items that failed are shown with their step; the others are in its list. */
const MOST_FAILED = 10

/** What is written down about a flow, sorted for people to look at. */
export interface FlowFacts {
  /** One for every step, in the order of the definition. */
  readonly rows: readonly TimelineRow[]
  /** What is known of the step itself; undefined if nobody has come to it. */
  wholeOf(step: number): SeenStep | undefined
  /** The first items that failed. */
  failedOf(step: number): readonly SeenStep[]
}

export interface SeenStep extends StepRecord {
  readonly reason: StepReason | null
}

export function sortFacts(graph: Graph, records: readonly StepRecord[]): FlowFacts {
  const facts = records as readonly SeenStep[]
  const wholes = new Map<number, SeenStep>()
  const failed = new Map<number, SeenStep[]>()
  for (const fact of facts) {
    if (fact.item === WHOLE) wholes.set(fact.step, fact)
    else if (fact.state === 'failed') {
      const own = failed.get(fact.step) ?? []
      if (own.length < MOST_FAILED) own.push(fact)
      failed.set(fact.step, own)
    }
  }
  return {
    rows: timelineOf(graph, facts),
    wholeOf: (step) => wholes.get(step),
    failedOf: (step) => failed.get(step) ?? [],
  }
}
