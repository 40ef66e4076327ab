import { WHOLE_STEP } from '../../core/workflow/progress/step-facts.ts'
import { STEP_CODE, type StepState, stepStateOf } from '../../core/run/step-state.ts'
import type { StepKey } from '../../store/port.ts'

/** States and runs of the steps of one workflow, stored as numbers because there may be many. */
export interface StepRuns {
  note(key: StepKey, what: { state: StepState; runId?: number | null; count?: number | null }): void
  runOf(key: StepKey): number | null
  /** Undefined: the step was not reached. */
  stateOf(step: number): StepState | undefined
  /** Number of items; null if the step is no fan-out. */
  countOf(step: number): number | null
  /** Number of items of all fan-outs. */
  readonly items: number
  /** The runs of its items; null for an item without a run. */
  itemRuns(step: number): readonly (number | null)[]
}

const UNKNOWN = 0

export function createStepRuns(size: number): StepRuns {
  const states = new Uint8Array(size)
  const runs = new Float64Array(size)
  const items = new Map<number, Float64Array>()
  let itemCount = 0
  return {
    note({ step, item }, { state, runId, count }) {
      if (item !== WHOLE_STEP) {
        const own = items.get(step)
        if (own && runId != null) own[item] = runId
        return
      }
      // No step state has code 0: that is the code of a ready run.
      states[step] = STEP_CODE[state]
      if (runId != null) runs[step] = runId
      if (count != null && !items.has(step)) {
        items.set(step, new Float64Array(count))
        itemCount += count
      }
    },
    runOf({ step, item }) {
      const runId = item === WHOLE_STEP ? runs[step] : items.get(step)?.[item]
      return runId || null
    },
    stateOf(step) {
      const code = states[step] as number
      return code === UNKNOWN ? undefined : stepStateOf(code)
    },
    get items() {
      return itemCount
    },
    countOf: (step) => items.get(step)?.length ?? null,
    itemRuns: (step) => Array.from(items.get(step) ?? [], (runId) => runId || null),
  }
}
