import type { Graph } from '../../../core/workflow/graph.ts'
import type { ShownStepState } from '../../../core/workflow/step-views.ts'
import type { FlowStore } from '../../../store/port.ts'

/** So many steps that were reached are passed over at once by who looks for those that were not. */
const PASSED_AT_ONCE = 5_000

export interface WantedSteps {
  readonly from: number
  readonly limit: number
  readonly state?: ShownStepState | undefined
}

/** The places of the next steps, in the order of the definition: any, or those in one state. */
export async function chooseSteps(
  store: Pick<FlowStore, 'stepsFrom' | 'countSteps'>,
  { flowId, graph }: { readonly flowId: number; readonly graph: Graph },
  { from, limit, state }: WantedSteps,
): Promise<number[]> {
  if (state === undefined) {
    const count = Math.max(0, Math.min(limit, graph.size - from))
    return Array.from({ length: count }, (_, index) => from + index)
  }
  if (state === 'untouched') return untouched(store, { flowId, graph }, { from, limit })
  const found = await store.stepsFrom({ flowId, from, state, limit })
  return found.map(({ step }) => step)
}

/** Those without a row: the gaps between those that have one. */
async function untouched(
  store: Pick<FlowStore, 'stepsFrom' | 'countSteps'>,
  { flowId, graph }: { readonly flowId: number; readonly graph: Graph },
  { from, limit }: Omit<WantedSteps, 'state'>,
): Promise<number[]> {
  const counts = await store.countSteps({ flowId })
  const left = graph.size - counts.reduce((sum, { count }) => sum + count, 0)
  const gaps: number[] = []
  for (let at = from; at < graph.size && gaps.length < Math.min(left, limit);) {
    const some = { flowId, from: at, state: null, limit: PASSED_AT_ONCE }
    const reached = new Set((await store.stepsFrom(some)).map(({ step }) => step))
    const until = reached.size < PASSED_AT_ONCE ? graph.size : Math.max(...reached) + 1
    for (let step = at; step < until && gaps.length < limit; step += 1) {
      if (!reached.has(step)) gaps.push(step)
    }
    at = until
  }
  return gaps
}
