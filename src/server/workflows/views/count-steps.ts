import type { Clock } from '../../../core/clock.ts'
import { STEP_STATES, type StepCounts } from '../../../core/workflow/step-views.ts'
import { isFinal } from '../../../core/run/run-state.ts'
import type { FlowStore, RunRecord } from '../../../store/port.ts'
import { MOST_WHOLE } from './read-step-facts.ts'

/** Of a large flow, counts may be so old while it goes on: counting walks all that was reached of it. */
const FRESH_MS = 1_000
/** So many large flows are remembered; then it starts over. */
const MEMO_LIMIT = 1_000

/** How many of the steps of a flow are in which state. */
export type CountSteps = (
  run: Pick<RunRecord, 'id' | 'state'>,
  total: number,
) => Promise<StepCounts>

/** People ask again and again how far a run is, and a flow that has ended does not change any more. */
export function createCountSteps({
  store,
  clock,
}: {
  readonly store: Pick<FlowStore, 'countSteps'>
  readonly clock: Pick<Clock, 'mono'>
}): CountSteps {
  const known = new Map<number, { counts: StepCounts; isFinal: boolean; sinceMono: number }>()

  const count = async (flowId: number, total: number): Promise<StepCounts> => {
    const counts = Object.fromEntries(STEP_STATES.map((state) => [state, 0]))
    let untouched = total
    for (const { state, count: some } of await store.countSteps({ flowId })) {
      counts[state] = some
      untouched -= some
    }
    return { total, ...counts, untouched } as StepCounts
  }

  return async ({ id, state }, total) => {
    if (total <= MOST_WHOLE) return count(id, total)
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
