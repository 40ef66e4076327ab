import type { WantedOutcome } from '../run/needs.ts'
import type { SecretInput } from '../secrets/secret.ts'
import type { WireRetry } from '../wire/retry.ts'
import type { WorkInput } from '../work/work.ts'
import type { Submission } from '../wire/protocol.ts'

/**
 * A workflow as users write it, inside the definition of its job. A list of steps runs top to bottom; a map is a
 * graph connected by `needs`. Fields next to `steps` (`env`, `queue`, `retry` …) are defaults for all steps, except
 * `timeout` and `concurrency`, which apply to the workflow itself.
 */
export interface WorkflowInput {
  readonly steps?: readonly StepInput[] | Readonly<Record<string, StepInput>> | undefined
  readonly input?: Readonly<Record<string, ParameterInput>> | undefined
  readonly triggers?: readonly TriggerInput[] | undefined
  /** By default one wave runs at a time; `none` allows any number. */
  readonly concurrency?: ConcurrencyInput | undefined
  /** The output of a successful run, with `${{ steps.… }}` in it. */
  readonly output?: unknown
}

/** One step: exactly one of `STEP_KINDS`, its rule, and settings of its run. */
export interface StepInput extends WorkInput {
  /** Only in a list, where the default is the position: `step-1`. In a map the key is the name. */
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly task?: string | undefined
  /** Another job of the project; the step is a run of it. */
  readonly job?: string | undefined
  readonly approve?: ApprovalInput | undefined
  readonly needs?: string | readonly string[] | undefined
  readonly when?: StepRule | undefined
  /** `${{ … }}`: if it is false, the step is skipped and counts as done. */
  readonly if?: string | boolean | undefined
  /** A list, or `${{ … }}` that evaluates to one: the step runs once for every item. */
  readonly each?: string | readonly unknown[] | undefined
  readonly max_parallel?: number | undefined
  /** Runs after all other steps have ended, whatever their state. */
  readonly finally?: boolean | undefined
  readonly allow_failure?: boolean | undefined
  /** The input of its run. */
  readonly with?: unknown
  readonly retry?: WireRetry | undefined
  readonly timeout?: string | undefined
  readonly queue?: string | undefined
  readonly priority?: number | undefined
  readonly runs_on?: Submission['runsOn']
  readonly weight?: number | undefined
  readonly on_lost?: 'retry' | 'fail' | undefined
  readonly secrets?: readonly SecretInput[] | undefined
}

/** A user must approve before the steps that need it can start. */
export interface ApprovalInput {
  /** Names of tokens that may approve; every operator by default. */
  readonly by?: readonly string[] | undefined
  readonly message?: string | undefined
  /** An approval without an answer within this time counts as refused. */
  readonly timeout?: string | undefined
  /** Fields that the approver fills in; they are the output of the step. */
  readonly input?: Readonly<Record<string, ParameterInput>> | undefined
}

/** One field of an input: a small subset of JSON Schema. */
export interface ParameterInput {
  readonly type: ParameterType
  readonly format?: ParameterFormat | undefined
  readonly enum?: readonly unknown[] | undefined
  /** A value or, for a run, `${{ run.… }}`. */
  readonly default?: unknown
  /** True by default unless there is a default value. */
  readonly required?: boolean | undefined
  readonly description?: string | undefined
}

/** Starts the job when another job ends, or when `/v1/hooks/{name}` is called: one of the two. */
export interface TriggerInput {
  /** A job, or a step of one: `etl/load`. */
  readonly after?: string | undefined
  /** How it must have ended; `ok` by default. */
  readonly on?: WantedOutcome | undefined
  /** The input of the run, with `${{ after.… }}` in it. */
  readonly input?: unknown
  readonly webhook?: string | undefined
}

export interface GateInput {
  /** May contain `${{ input.… }}`; the default is the job's own gate. */
  readonly key?: string | undefined
  readonly limit: number
}

export type ConcurrencyInput = 'none' | GateInput | readonly GateInput[]

export const PARAMETER_TYPES = [
  'string',
  'number',
  'integer',
  'boolean',
  'array',
  'object',
] as const
export type ParameterType = (typeof PARAMETER_TYPES)[number]

export const PARAMETER_FORMATS = ['date', 'date-time'] as const
export type ParameterFormat = (typeof PARAMETER_FORMATS)[number]

/** Rules about the needed steps that decide whether a step starts. */
export const STEP_RULES = [
  'all-succeeded',
  'all-done',
  'any-succeeded',
  'any-failed',
  'none-failed',
  'always',
] as const
export type StepRule = (typeof STEP_RULES)[number]

/** The kinds of steps. */
export const STEP_KINDS = [
  'run',
  'argv',
  'script',
  'http',
  'container',
  'task',
  'job',
  'approve',
] as const
export type StepKind = (typeof STEP_KINDS)[number]
