import type { Graph } from '../../../core/workflow/graph.ts'
import type { ShownStepState } from '../../../core/wire/workflow-view.ts'
import type { WorkflowStore } from '../../../store/port.ts'

/** Reached steps that are skipped at once in the search for steps that were not reached. */
const SKIPPED_PER_PAGE = 5_000

export interface RequestedSteps {
  readonly from: number
  readonly limit: number
  readonly state?: ShownStepState | undefined
}

/** Indexes of the next steps in definition order: all, or those in one state. */
export async function chooseSteps(
  store: Pick<WorkflowStore, 'stepsFrom' | 'countSteps'>,
  { workflowId, graph }: { readonly workflowId: number; readonly graph: Graph },
  { from, limit, state }: RequestedSteps,
): Promise<number[]> {
  if (state === undefined) {
    const count = Math.max(0, Math.min(limit, graph.size - from))
    return Array.from({ length: count }, (_, index) => from + index)
  }
  if (state === 'untouched') return untouched(store, { workflowId, graph }, { from, limit })
  const found = await store.stepsFrom({ workflowId, from, state, limit })
  return found.map(({ step }) => step)
}

/** Steps without a row: the gaps between the rows. */
async function untouched(
  store: Pick<WorkflowStore, 'stepsFrom' | 'countSteps'>,
  { workflowId, graph }: { readonly workflowId: number; readonly graph: Graph },
  { from, limit }: Omit<RequestedSteps, 'state'>,
): Promise<number[]> {
  const counts = await store.countSteps({ workflowId })
  const left = graph.size - counts.reduce((sum, { count }) => sum + count, 0)
  const gaps: number[] = []
  for (let at = from; at < graph.size && gaps.length < Math.min(left, limit);) {
    const some = { workflowId, from: at, state: null, limit: SKIPPED_PER_PAGE }
    const reached = new Set((await store.stepsFrom(some)).map(({ step }) => step))
    const until = reached.size < SKIPPED_PER_PAGE ? graph.size : Math.max(...reached) + 1
    for (let step = at; step < until && gaps.length < limit; step += 1) {
      if (!reached.has(step)) gaps.push(step)
    }
    at = until
  }
  return gaps
}
