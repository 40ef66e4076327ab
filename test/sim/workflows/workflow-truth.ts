import type { StepWork } from './draw-workflow.ts'

/** A start of a step, or of a run that follows others, as its worker saw it. */
export interface Start {
  readonly n: number
  readonly runId: number
  readonly fence: number
  /** Null for a run that is no step. */
  readonly work: StepWork | null
  /** Whether anybody else was under way whom this one must not meet. */
  readonly meets: readonly StepWork[]
}

/** What workers did, and the count that puts it in one order with what the store wrote. */
export interface FlowTruth {
  /** The number of the next thing that happens, wherever it does. */
  next(): number
  readonly starts: Start[]
  /** Runs that a worker has done, and when; what it calls a failure is in `failed`. */
  readonly done: Map<number, number>
  readonly failed: Map<number, number>
}

export function createFlowTruth(): FlowTruth {
  let last = 0
  return { next: () => (last += 1), starts: [], done: new Map(), failed: new Map() }
}
