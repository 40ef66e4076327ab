import type { Wanted } from '../run/needs.ts'
import type { SecretInput } from '../work/secret.ts'
import type { WireRetry } from '../wire/retry.ts'
import type { WorkInput } from '../work/work.ts'
import type { Submission } from '../wire/protocol.ts'

/**
 * A workflow as people write it, inside the definition of its job. A list of steps runs top to bottom; a
 * map is a graph wired by `needs`. What stands beside `steps` (`env`, `queue`, `retry` …) goes for every
 * step that does not say otherwise, except `timeout` and `concurrency`, which are the workflow's own.
 */
export interface WorkflowInput {
  readonly steps?: readonly StepInput[] | Readonly<Record<string, StepInput>> | undefined
  readonly input?: Readonly<Record<string, ParameterInput>> | undefined
  readonly triggers?: readonly TriggerInput[] | undefined
  /** Without it, one wave at a time; `none` lets any number overlap. */
  readonly concurrency?: ConcurrencyInput | undefined
  /** What a run of it gives that ends well, with `${{ steps.… }}` in it. */
  readonly output?: unknown
}

/** One step: exactly one of `STEP_KINDS`, when it may begin, and how its run is meant. */
export interface StepInput extends WorkInput {
  /** Only in a list; without it, the step is called by its place, `step-1`. In a map it is the key. */
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly task?: string | undefined
  /** Another job of the project, whose run the step then is. */
  readonly job?: string | undefined
  readonly approve?: ApprovalInput | undefined
  readonly needs?: string | readonly string[] | undefined
  readonly when?: When | undefined
  /** `${{ … }}`: the step is skipped, and counts as done, where it is false. */
  readonly if?: string | boolean | undefined
  /** A list, or `${{ … }}` that gives one: the step runs once for every item. */
  readonly each?: string | readonly unknown[] | undefined
  readonly max_parallel?: number | undefined
  /** Runs when everything else has ended, however it ended. */
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

/** Somebody has to agree before the steps that need it go on. */
export interface ApprovalInput {
  /** Names of tokens whose holders may decide; without it, everybody who may operate. */
  readonly by?: readonly string[] | undefined
  readonly message?: string | undefined
  /** Not decided for so long, it counts as refused. */
  readonly timeout?: string | undefined
  /** What is asked of whoever agrees; their answers are the output of the step. */
  readonly input?: Readonly<Record<string, ParameterInput>> | undefined
}

/** One field of an input: a small part of JSON Schema. */
export interface ParameterInput {
  readonly type: ParameterType
  readonly format?: ParameterFormat | undefined
  readonly enum?: readonly unknown[] | undefined
  /** A value, or for a run `${{ run.… }}`. */
  readonly default?: unknown
  /** True unless there is a default. */
  readonly required?: boolean | undefined
  readonly description?: string | undefined
}

/** The job also runs when another has ended, or when somebody calls `/v1/hooks/{name}`: one of the two. */
export interface TriggerInput {
  /** A job, or a step of one: `etl/load`. */
  readonly after?: string | undefined
  /** How it has to have ended; `ok` if absent. */
  readonly on?: Wanted | undefined
  /** What the run is given, with `${{ after.… }}` in it. */
  readonly input?: unknown
  readonly webhook?: string | undefined
}

export interface GateInput {
  /** May be `${{ input.… }}`; without it, the gate is the job's own. */
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

/** What has to have become of the steps it needs before a step begins. */
export const WHENS = [
  'all-succeeded',
  'all-done',
  'any-succeeded',
  'any-failed',
  'none-failed',
  'always',
] as const
export type When = (typeof WHENS)[number]

/** What a step can be. */
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
