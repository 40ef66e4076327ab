import { criticalPath } from '../../../core/workflow/critical-path.ts'
import type { StepReason } from '../../../core/workflow/step-facts.ts'
import type { Graph } from '../../../core/workflow/graph.ts'
import { type ItemCounts, itemCounts } from '../../../core/flow/item-counts.ts'
import type { FlowStore, StepRecord } from '../../../store/port.ts'

/** A flow of so many steps is looked at as a whole; of a larger one only what is asked for. */
export const MOST_WHOLE = 1_000
/** Of a larger flow, what is needed by the steps that are asked for: so many, and so far back. */
const MOST_NEEDED = 2_000
const MOST_LEVELS = 8
/** Of a fan-out, so many items that failed are shown with their step; the others are in its list. */
const MOST_FAILED = 10

export interface SeenStep extends StepRecord {
  readonly reason: StepReason | null
}

/** What is written down about some steps of a flow, and about those they depend on. */
export interface FlowFacts {
  /** What is known of the step itself; undefined if nobody has come to it, or it was not looked at. */
  wholeOf(step: number): SeenStep | undefined
  wasLookedAt(step: number): boolean
  /** Null unless it is a fan-out that has begun. */
  itemsOf(step: number): ItemCounts | null
  /** The first items that failed. */
  failedOf(step: number): readonly SeenStep[]
  /** Null where nobody can tell without having looked at everything. */
  isCritical(step: number): boolean | null
}

type Looking = Pick<FlowStore, 'stepsAt' | 'stepsFrom' | 'countItems' | 'failedItems'>

/** Costs what is asked for, however many steps the flow has. */
export async function lookAtSteps(
  store: Looking,
  { flowId, graph }: { readonly flowId: number; readonly graph: Graph },
  steps: readonly number[],
): Promise<FlowFacts> {
  const isWhole = graph.size <= MOST_WHOLE
  const known = isWhole
    ? await readAll(store, flowId, graph)
    : await readNeeded(store, flowId, graph, steps)
  const wholeOf = (step: number) => known.get(step) ?? undefined
  const fanOuts = steps.filter((step) => wholeOf(step)?.count != null)
  const items = await readItems(store, flowId, fanOuts)
  const critical = isWhole ? new Set(criticalPath(graph, wholeOf)) : null
  return {
    wholeOf,
    wasLookedAt: (step) => known.has(step),
    itemsOf(step) {
      const total = wholeOf(step)?.count
      return total == null ? null : itemCounts(total, items.counts.get(step) ?? [])
    },
    failedOf: (step) => items.failed.get(step) ?? [],
    isCritical: (step) => critical && critical.has(step),
  }
}

/** Null: nobody has come to it. */
type Known = Map<number, SeenStep | null>

async function readAll(store: Looking, flowId: number, graph: Graph): Promise<Known> {
  const known: Known = new Map(Array.from(graph.order, (step) => [step, null]))
  const all = await store.stepsFrom({ flowId, from: 0, state: null, limit: graph.size })
  for (const whole of all as SeenStep[]) known.set(whole.step, whole)
  return known
}

async function readNeeded(
  store: Looking,
  flowId: number,
  graph: Graph,
  asked: readonly number[],
): Promise<Known> {
  const known: Known = new Map()
  let steps = asked
  for (let level = 0; level < MOST_LEVELS && steps.length > 0; level += 1) {
    for (const step of steps) known.set(step, null)
    const found = await store.stepsAt({ flowId, steps })
    for (const whole of found as SeenStep[]) known.set(whole.step, whole)
    const room = asked.length + MOST_NEEDED - known.size
    steps = furtherBack(graph, known, { steps, isAsked: level === 0 }, room)
  }
  return known
}

/** A step that was asked for may say whom it waits for; one that was skipped, because of whom. */
function furtherBack(
  graph: Graph,
  known: Known,
  { steps, isAsked }: { readonly steps: readonly number[]; readonly isAsked: boolean },
  room: number,
): number[] {
  const further = new Set<number>()
  for (const step of steps) {
    const whole = known.get(step)
    const isAboutOthers = whole ? whole.reason === 'needs' : isAsked
    if (!isAboutOthers) continue
    for (const need of graph.needs.of(step)) {
      if (further.size >= room) return [...further]
      if (!known.has(need)) further.add(need)
    }
  }
  return [...further]
}

async function readItems(store: Looking, flowId: number, steps: readonly number[]) {
  if (steps.length === 0) return { counts: new Map<number, []>(), failed: new Map<number, []>() }
  const counts = await store.countItems({ flowId, steps })
  const withFailures = [
    ...new Set(counts.flatMap(({ step, state }) => (state === 'failed' ? [step] : []))),
  ]
  const failed =
    withFailures.length === 0
      ? []
      : await store.failedItems({ flowId, steps: withFailures, each: MOST_FAILED })
  return {
    counts: Map.groupBy(counts, ({ step }) => step),
    failed: Map.groupBy(failed as readonly SeenStep[], ({ step }) => step),
  }
}
