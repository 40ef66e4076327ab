import type { Json } from '../../core/expression/expression.ts'
import { isSettled, type StepFact, type StepReason, WHOLE } from '../../core/workflow/step-facts.ts'
import type { Stop } from '../../core/workflow/decision.ts'
import type { Progress } from '../../core/workflow/progress.ts'
import type { StepState } from '../../core/run/step-state.ts'
import type { FinalState } from '../../core/run/run-state.ts'
import type { FlowRecord, StepKey, StepMark } from '../../store/port.ts'
import type { Around } from './find-ancestors.ts'
import type { StepRuns } from './step-runs.ts'
import type { Compiled } from './compiled-workflow-cache.ts'

/** One flow as this node knows it: true as long as nobody else has moved it, which its revision tells. */
export interface HeldFlow {
  readonly record: FlowRecord
  readonly job: string
  readonly project: string
  readonly compiled: Compiled
  /** What its steps must not wait for: the flows it is part of. */
  readonly around: Around
  readonly progress: Progress
  readonly runs: StepRuns
  readonly input: Json
  /** The time its run is for, on the clocks of its schedule, or of this installation. */
  readonly scheduledAt: string
  /** By the store's clock; it is stopped then. */
  readonly deadline: number | null
  /** Grows with every move of ours. */
  revision: number
  /** Why it is being stopped, if it is. */
  stop: Stop | null
  /** When what is under way was last told not to go on. */
  toldToStopAt: number | null
  /** When somebody has to look at it even if nothing is heard. */
  lookAt: number | null
  /** Facts of the flow this one repeats that are not written down as its own yet. */
  toTakeOver: readonly StepMark[]
  /** News that are written down, but that no move has answered. */
  inbox: StepNews[]
  /** Approvals nobody has given yet, and when they expire, if ever. */
  readonly approvals: Map<number, number | null>
  /** What was answered when they were given. */
  readonly answers: Map<number, Json>
  /** The lists of fan-outs under way. */
  readonly lists: Map<number, readonly Json[]>
  /** Of fan-outs that began early: what was not over yet of the steps their lists speak of. */
  readonly unfinished: Map<number, Unfinished>
}

/** Steps by name, and how they stood. */
export type Unfinished = Readonly<Record<string, StepState>>

export interface StepNews extends StepKey {
  readonly state: FinalState
}

/** What a move says about a step, beside its place and state: nothing, unless it is said. */
export const PLAIN = {
  runId: null,
  reason: null,
  message: null,
  count: null,
  dueAt: null,
  detail: null,
} as const

/** The flow knows it from now on, in all of its memory. */
export function learn(held: HeldFlow, mark: StepMark): void {
  const { step, item, state, dueAt, detail, count } = mark
  held.runs.note(mark, mark)
  held.progress.hear(asFact(mark))
  if (item !== WHOLE) return
  if (state === 'waiting') held.approvals.set(step, dueAt)
  else held.approvals.delete(step)
  if (detail !== null && count !== null) {
    held.unfinished.set(step, JSON.parse(detail) as Unfinished)
  } else if (detail !== null && state === 'succeeded') {
    held.answers.set(step, JSON.parse(detail) as Json)
  }
  if (isSettled(state)) held.lists.delete(step)
}

export function asFact({ step, item, state, reason, count }: StepMark): StepFact {
  return { step, item, state, reason: reason as StepReason | null, count }
}
