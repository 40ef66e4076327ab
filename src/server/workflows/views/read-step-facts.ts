import { criticalPath } from '../../../core/workflow/views/critical-path.ts'
import type { StepReason } from '../../../core/workflow/progress/step-facts.ts'
import type { Graph } from '../../../core/workflow/graph.ts'
import { itemCounts, type ItemCounts } from '../../../core/workflow/progress/fan-out.ts'
import type { WorkflowStore, StepRecord } from '../../../store/port.ts'

/** A workflow up to this size is read completely; of a larger one only the requested steps. */
export const MAX_WHOLE_STEPS = 1_000
/** Of a larger workflow: how many needed steps are read, and over how many levels. */
const MAX_NEEDED_STEPS = 2_000
const MOST_LEVELS = 8
/** How many failed items are shown with their fan-out; the others are in its item list. */
const MAX_FAILED_ITEMS = 10

export interface StepSnapshot extends StepRecord {
  readonly reason: StepReason | null
}

/** Stored facts about some steps of a workflow and about those they depend on. */
export interface WorkflowFacts {
  /** The stored step itself; undefined if it was not reached or not read. */
  wholeOf(step: number): StepSnapshot | undefined
  wasLookedAt(step: number): boolean
  /** Null unless the step is a fan-out that has begun. */
  itemsOf(step: number): ItemCounts | null
  /** The first items that failed. */
  failedOf(step: number): readonly StepSnapshot[]
  /** Null if that is unknown without reading every step. */
  isCritical(step: number): boolean | null
}

type StepStore = Pick<WorkflowStore, 'stepsAt' | 'stepsFrom' | 'countItems' | 'failedItems'>

/** Costs what is requested, however many steps the workflow has. */
export async function readStepFacts(
  store: StepStore,
  { workflowId, graph }: { readonly workflowId: number; readonly graph: Graph },
  steps: readonly number[],
): Promise<WorkflowFacts> {
  const isWhole = graph.size <= MAX_WHOLE_STEPS
  const known = isWhole
    ? await readAll(store, workflowId, graph)
    : await readNeeded(store, workflowId, graph, steps)
  const wholeOf = (step: number) => known.get(step) ?? undefined
  const fanOuts = steps.filter((step) => wholeOf(step)?.count != null)
  const items = await readItems(store, workflowId, fanOuts)
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

/** Null: the step was not reached. */
type Known = Map<number, StepSnapshot | null>

async function readAll(store: StepStore, workflowId: number, graph: Graph): Promise<Known> {
  const known: Known = new Map(Array.from(graph.order, (step) => [step, null]))
  const all = await store.stepsFrom({ workflowId, from: 0, state: null, limit: graph.size })
  for (const whole of all as StepSnapshot[]) known.set(whole.step, whole)
  return known
}

async function readNeeded(
  store: StepStore,
  workflowId: number,
  graph: Graph,
  asked: readonly number[],
): Promise<Known> {
  const known: Known = new Map()
  let steps = asked
  for (let level = 0; level < MOST_LEVELS && steps.length > 0; level += 1) {
    for (const step of steps) known.set(step, null)
    const found = await store.stepsAt({ workflowId, steps })
    for (const whole of found as StepSnapshot[]) known.set(whole.step, whole)
    const remaining = asked.length + MAX_NEEDED_STEPS - known.size
    steps = furtherBack(graph, known, { steps, isAsked: level === 0 }, remaining)
  }
  return known
}

/** A requested step shows what it waits for; a skipped one shows the cause. */
function furtherBack(
  graph: Graph,
  known: Known,
  { steps, isAsked }: { readonly steps: readonly number[]; readonly isAsked: boolean },
  remaining: number,
): number[] {
  const further = new Set<number>()
  for (const step of steps) {
    const whole = known.get(step)
    const isAboutOthers = whole ? whole.reason === 'needs' : isAsked
    if (!isAboutOthers) continue
    for (const need of graph.needs.of(step)) {
      if (further.size >= remaining) return [...further]
      if (!known.has(need)) further.add(need)
    }
  }
  return [...further]
}

async function readItems(store: StepStore, workflowId: number, steps: readonly number[]) {
  if (steps.length === 0) return { counts: new Map<number, []>(), failed: new Map<number, []>() }
  const counts = await store.countItems({ workflowId, steps })
  const withFailures = [
    ...new Set(counts.flatMap(({ step, state }) => (state === 'failed' ? [step] : []))),
  ]
  const failed =
    withFailures.length === 0
      ? []
      : await store.failedItems({ workflowId, steps: withFailures, each: MAX_FAILED_ITEMS })
  return {
    counts: Map.groupBy(counts, ({ step }) => step),
    failed: Map.groupBy(failed as readonly StepSnapshot[], ({ step }) => step),
  }
}
