import type { ValueWarning } from '../expression/shell/shell-warnings.ts'
import type { FinalState } from '../run/run-state.ts'
import type { WireSchedule } from '../schedule/definition/schedule-views.ts'
import type { JobDefinition } from './job-definition.ts'

export interface WireJob {
  readonly name: string
  readonly version: number
  readonly definition: JobDefinition
  readonly paused: { readonly since: string; readonly reason: string | null } | null
  readonly updated_at: string
  /** The name of the token that stored the definition. */
  readonly updated_by: string
  /** The schedules of the job. Not in lists. */
  readonly schedules?: readonly WireSchedule[]
  /** The jobs that it triggers. Not in lists. */
  readonly followers?: readonly string[]
  /** The latest runs that were to trigger it, newest first. Not in lists. */
  readonly follow_ups?: readonly WireFollowUp[]
  /** Warnings about the definition; at most a hundred. Only in the answer to a new definition that has any. */
  readonly warnings?: readonly WireWarning[] | undefined
}

/** A part of a definition that is accepted but may be a mistake. */
export interface WireWarning {
  readonly code: ValueWarning['code'] | 'shadows_handler'
  readonly message: string
  readonly hint: string
  readonly field: string
}

/** A run that ended, and the run that it triggered. */
export interface WireFollowUp {
  /** The triggering run, its job, and how it ended. */
  readonly after: string
  readonly job: string
  readonly state: FinalState
  readonly at: string
  /** The triggered run; null if there was none. */
  readonly run: string | null
  /** Why no run was triggered. */
  readonly reason: string | null
}

export interface WireJobVersion {
  readonly version: number
  readonly definition: JobDefinition
  readonly created_at: string
  readonly created_by: string
}
