import type { RunState } from '../run/run-state.ts'
import type { ParameterInput, When } from './definition.ts'
import type { StepReason } from './step-facts.ts'
import type { StepState } from '../run/step-state.ts'

/**
 * What the API shows of workflows and their steps, as it travels. Server, client and command line
 * share these; a field is only ever added.
 */

/** Where a step can be. `untouched`: the workflow has not come to it yet. */
export const STEP_STATES = [
  'untouched',
  'running',
  'waiting',
  'succeeded',
  'failed',
  'cancelled',
  'skipped',
] as const satisfies readonly (StepState | 'untouched')[]
export type ShownStepState = (typeof STEP_STATES)[number]

/** What a step is: work of its own, a run of another job, or a question to somebody. */
export const STEP_KINDS_SHOWN = ['work', 'job', 'approval'] as const
export type ShownStepKind = (typeof STEP_KINDS_SHOWN)[number]

export type StepCounts = Readonly<Record<ShownStepState | 'total', number>>

/** How far a run that is a workflow has come. */
export interface FlowView {
  /** Counted by job, from 1; a retry keeps that of the run it repeats. Null before it has begun. */
  readonly wave: number | null
  readonly steps: StepCounts
}

/** Of which workflow a run is a step. */
export interface StepPlace {
  readonly run: string
  readonly name: string
  /** Its place in a fan-out, from 0; null if the step has none. */
  readonly item: number | null
}

/** A step as its job's definition has it. */
export interface WirePlannedStep {
  readonly name: string
  readonly kind: ShownStepKind
  /** At most `MOST_NEEDS` of them, in the order of the definition. */
  readonly needs: readonly string[]
  readonly needs_count: number
  readonly when: When
  /** It runs when everything else has ended. */
  readonly finally: boolean
  /** It runs once for every item of a list. */
  readonly each: boolean
}

export const MOST_NEEDS = 100

/** How the latest runs of a step went. */
export interface WireStepStatistics {
  /** So many of its latest runs that have ended were looked at. */
  readonly runs: number
  readonly succeeded: number
  readonly failed: number
  /** How long those that succeeded took, from the start of their last attempt; null if none did. */
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

/** What is asked of somebody, while nobody has answered. */
export interface WireApproval {
  readonly message: string | null
  /** Names of tokens that may answer; empty if everybody who may operate can. */
  readonly by: readonly string[]
  readonly expires_at: string | null
  /** What has to be said by whoever agrees. */
  readonly input: Readonly<Record<string, Omit<ParameterInput, 'default'>>>
}

/** One item of a fan-out. */
export interface WireStepItem {
  readonly item: number
  readonly state: ShownStepState
  readonly reason: StepReason | null
  readonly sentence: string | null
  readonly run: WireStepRun | null
  readonly reused: boolean
  readonly started_at: string | null
  readonly finished_at: string | null
}

/** The items of a fan-out in short: how many are where, and the first that failed. */
export interface WireItems {
  readonly counts: StepCounts
  readonly failed: readonly WireStepItem[]
}

/** One step of one run. */
export interface WireStep extends WirePlannedStep {
  readonly state: ShownStepState
  /** Why it was skipped, or failed without a run. */
  readonly reason: StepReason | null
  /** Why it is where it is, if there is more to say than its state does. */
  readonly sentence: string | null
  readonly run: WireStepRun | null
  /** Its run is that of the workflow this one repeats: it was not done again. */
  readonly reused: boolean
  readonly started_at: string | null
  readonly finished_at: string | null
  /** The workflow could not have ended sooner unless this step had; null if it has too many steps to tell. */
  readonly critical: boolean | null
  readonly items: WireItems | null
  /** What it gave to those that need it; null if it is nothing, or too long to stand in a list. */
  readonly output: unknown
  /** How long the output is, if it was left out for that. */
  readonly output_bytes: number | null
  readonly approval: WireApproval | null
}
