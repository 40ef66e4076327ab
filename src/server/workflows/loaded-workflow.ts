import type { Json } from '../../core/expression/expression.ts'
import {
  isSettled,
  type StepFact,
  type StepReason,
  WHOLE_STEP,
} from '../../core/workflow/progress/step-facts.ts'
import type { WorkflowStopReason } from '../../core/workflow/progress/decision.ts'
import type { WorkflowProgress } from '../../core/workflow/progress/progress.ts'
import type { StepState } from '../../core/run/step-state.ts'
import type { FinalState } from '../../core/run/run-state.ts'
import type { WorkflowRecord, StepKey, StepMark } from '../../store/port.ts'
import type { Ancestors } from './find-ancestors.ts'
import type { StepRuns } from './step-runs.ts'
import type { CompiledWorkflow } from './compiled-workflow-cache.ts'

/**
 * A workflow in the memory of this node. It is up to date as long as the store still has its
 * revision.
 */
export interface LoadedWorkflow {
  readonly record: WorkflowRecord
  readonly job: string
  readonly project: string
  readonly compiled: CompiledWorkflow
  /** The workflows that contain it: its steps must not wait for them. */
  readonly ancestors: Ancestors
  readonly progress: WorkflowProgress
  readonly runs: StepRuns
  readonly input: Json
  /** The time its run is for, in the zone of its schedule or of this installation. */
  readonly scheduledAt: string
  /** It is stopped at this time of the store's clock. */
  readonly deadline: number | null
  /** Grows with each transition made by this node. */
  revision: number
  /** Why it is being stopped, if it is. */
  stop: WorkflowStopReason | null
  /** When its running steps were last asked to stop. */
  stopNotifiedMono: number | null
  /** When it has to be checked even without a signal. */
  checkAt: number | null
  /** Step states reused from the workflow it repeats, not yet written as its own. */
  reusedMarks: readonly StepMark[]
  /** Stored signals that no transition has processed. */
  inbox: StepSignal[]
  /** Open approvals, and when they expire, if ever. */
  readonly approvals: Map<number, number | null>
  /** Answers given with approvals. */
  readonly answers: Map<number, Json>
  /** The lists of running fan-outs. */
  readonly lists: Map<number, readonly Json[]>
  /** For fan-outs that began early: the steps their lists refer to that were unfinished then. */
  readonly unfinished: Map<number, UnfinishedSteps>
}

/** Steps by name, with their state at that time. */
export type UnfinishedSteps = Readonly<Record<string, StepState>>

export interface StepSignal extends StepKey {
  readonly state: FinalState
}

/** Defaults for the fields of a step mark other than its key and state. */
export const EMPTY_MARK = {
  runId: null,
  reason: null,
  message: null,
  count: null,
  dueAt: null,
  detail: null,
} as const

/** Applies the mark to the in-memory state of the workflow. */
export function applyMark(loaded: LoadedWorkflow, mark: StepMark): void {
  const { step, item, state, dueAt, detail, count } = mark
  loaded.runs.note(mark, mark)
  loaded.progress.apply(asFact(mark))
  if (item !== WHOLE_STEP) return
  if (state === 'waiting') loaded.approvals.set(step, dueAt)
  else loaded.approvals.delete(step)
  if (detail !== null && count !== null) {
    loaded.unfinished.set(step, JSON.parse(detail) as UnfinishedSteps)
  } else if (detail !== null && state === 'succeeded') {
    loaded.answers.set(step, JSON.parse(detail) as Json)
  }
  if (isSettled(state)) loaded.lists.delete(step)
}

export function asFact({ step, item, state, reason, count }: StepMark): StepFact {
  return { step, item, state, reason: reason as StepReason | null, count }
}
