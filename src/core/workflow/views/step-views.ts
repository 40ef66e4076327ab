import type { RunState } from '../../run/run-state.ts'
import type { ParameterInput, StepRule } from '../definition.ts'
import type { StepReason } from '../progress/step-facts.ts'
import type { ShownStepState, StepCounts } from '../../wire/workflow-view.ts'

/** The API representation of the steps of a workflow. Fields are only ever added. */

/** The kinds of steps: work of its own, a run of another job, or an approval. */
export const SHOWN_STEP_KINDS = ['work', 'job', 'approval'] as const
export type ShownStepKind = (typeof SHOWN_STEP_KINDS)[number]

/** A step as defined in its job. */
export interface WirePlannedStep {
  readonly name: string
  readonly kind: ShownStepKind
  /** At most `MAX_SHOWN_NEEDS` of them, in the order of the definition. */
  readonly needs: readonly string[]
  readonly needs_count: number
  readonly when: StepRule
  /** It runs after all other steps have ended. */
  readonly finally: boolean
  /** It runs once for every item of a list. */
  readonly each: boolean
}

export const MAX_SHOWN_NEEDS = 100

/** Statistics of the latest runs of a step. */
export interface WireStepStatistics {
  /** Number of its latest ended runs that were counted. */
  readonly runs: number
  readonly succeeded: number
  readonly failed: number
  /** Duration of the successful runs, from the start of their last attempt; null if none succeeded. */
  readonly p50_ms: number | null
  readonly p95_ms: number | null
}

export interface WireJobStep extends WirePlannedStep {
  readonly statistics: WireStepStatistics
}

/** The run of a step, or of one of its items. */
export interface WireStepRun {
  readonly id: string
  readonly state: RunState
  readonly attempt: number
  readonly message: string | null
}

/** An open approval. */
export interface WireApproval {
  readonly message: string | null
  /** Names of the tokens that may answer; empty if every operator may. */
  readonly by: readonly string[]
  readonly expires_at: string | null
  /** The fields that the approver must fill in. */
  readonly input: Readonly<Record<string, Omit<ParameterInput, 'default'>>>
}

/** What a step and one item of a fan-out have in common. */
interface WireStepProgress {
  readonly state: ShownStepState
  /** Why it was skipped, or failed without a run. */
  readonly reason: StepReason | null
  /** An explanation of its state, if there is more to say than the state itself. */
  readonly sentence: string | null
  readonly run: WireStepRun | null
  /** Its run belongs to the workflow that this one repeats: it did not run again. */
  readonly reused: boolean
  readonly started_at: string | null
  readonly finished_at: string | null
}

/** One item of a fan-out. */
export interface WireStepItem extends WireStepProgress {
  readonly item: number
}

/** Summary of the items of a fan-out: the number in each state, and the first that failed. */
export interface WireItems {
  readonly counts: StepCounts
  readonly failed: readonly WireStepItem[]
}

/** One step of one run. */
export interface WireStep extends WirePlannedStep, WireStepProgress {
  /** Whether it is on the critical path; null if the workflow has too many steps to compute it. */
  readonly critical: boolean | null
  readonly items: WireItems | null
  /** Its output for the steps that need it; null if there is none, or if it is too long for a list. */
  readonly output: unknown
  /** Size of the output, if it was left out because of it. */
  readonly output_bytes: number | null
  readonly approval: WireApproval | null
}
