import type { DrawnStepInput } from './draw-workflow.ts'

/** The start of a step, or of a run that follows others, as its worker saw it. */
export interface ObservedStart {
  readonly n: number
  readonly runId: number
  readonly fence: number
  /** Null for a run that is not a step. */
  readonly work: DrawnStepInput | null
  /** Steps running at that moment; the check decides which of them must not overlap with this one. */
  readonly meets: readonly DrawnStepInput[]
}

/** What workers did, numbered in one sequence with what the store wrote. */
export interface WorkflowTruth {
  /** The number of the next event, in the store or in a worker. */
  next(): number
  readonly starts: ObservedStart[]
  /** Runs that a worker completed, with the event number; failures are in `failed`. */
  readonly done: Map<number, number>
  readonly failed: Map<number, number>
}

export function createWorkflowTruth(): WorkflowTruth {
  let last = 0
  return { next: () => (last += 1), starts: [], done: new Map(), failed: new Map() }
}
