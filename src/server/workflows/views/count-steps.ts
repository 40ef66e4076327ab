import type { Clock } from '../../../core/clock.ts'
import { type StepCounts, SHOWN_STEP_STATES } from '../../../core/wire/workflow-view.ts'
import { isFinal } from '../../../core/run/run-state.ts'
import type { WorkflowStore, RunRecord } from '../../../store/port.ts'
import { MAX_WHOLE_STEPS } from './read-step-facts.ts'

/** Maximum age of the counts of a large running workflow: counting reads every reached step. */
const FRESH_MS = 1_000
/** Number of large workflows whose counts are cached; beyond it the cache is cleared. */
const MEMO_LIMIT = 1_000

/** Number of steps of a workflow by state. */
export type CountSteps = (
  run: Pick<RunRecord, 'id' | 'state'>,
  total: number,
) => Promise<StepCounts>

/**
 * Caches counts, because users poll the progress of a run and an ended workflow does not change.
 */
export function createCountSteps({
  store,
  clock,
}: {
  readonly store: Pick<WorkflowStore, 'countSteps'>
  readonly clock: Pick<Clock, 'mono'>
}): CountSteps {
  const known = new Map<number, { counts: StepCounts; isFinal: boolean; sinceMono: number }>()

  const count = async (workflowId: number, total: number): Promise<StepCounts> => {
    const counts = Object.fromEntries(SHOWN_STEP_STATES.map((state) => [state, 0]))
    let untouched = total
    for (const { state, count: some } of await store.countSteps({ workflowId })) {
      counts[state] = some
      untouched -= some
    }
    return { total, ...counts, untouched } as StepCounts
  }

  return async ({ id, state }, total) => {
    if (total <= MAX_WHOLE_STEPS) return count(id, total)
    const memory = known.get(id)
    const isOver = isFinal(state)
    const isFresh = memory && clock.mono() - memory.sinceMono < FRESH_MS
    if (memory && memory.isFinal === isOver && (isOver || isFresh)) return memory.counts
    const sinceMono = clock.mono()
    const counts = await count(id, total)
    if (known.size >= MEMO_LIMIT) known.clear()
    known.set(id, { counts, isFinal: isOver, sinceMono })
    return counts
  }
}
