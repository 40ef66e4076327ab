import type { JobStatus, RunStatus } from './statuses.ts'

/**
 * Responses of the compatibility protocols: every name here is a contract with external programs.
 */

export interface WireCompatJob {
  readonly id: number
  readonly name: string
  readonly command: string | null
  readonly schedule: string | null
  readonly created_at: string
  readonly status: JobStatus
}

export interface WireCompatRun {
  readonly run_id: number
  readonly job_id: number
  readonly worker_id: string | null
  readonly start_time: string | null
  readonly end_time: string | null
  readonly status: RunStatus
  readonly exit_code: number | null
  readonly logs: string
}

export interface WireCompatJobDetail extends WireCompatJob {
  readonly last_run: WireCompatRun | null
}

/** A job for a worker to run now. */
export interface WireCompatTask extends Omit<WireCompatJob, 'status'> {
  readonly run_id: number
  readonly attempt: number
}

/**
 * The fields of the job at the top level, for workers that read them there, and again under `job`.
 */
export interface WireCompatNext extends WireCompatTask {
  readonly job: WireCompatTask
}

export interface WireCompatWorker {
  readonly worker_id: string
  readonly last_seen: string
  readonly status: 'active' | 'inactive'
}

export interface WireCompatReport {
  readonly job_id: number
  readonly worker_id: string
  readonly status: RunStatus
}

export interface WireSubmitted {
  readonly job_id: string
  readonly status: 'Submitted'
  readonly message: string
}

export interface WireSubmittedJob {
  readonly job_id: string
  readonly user_id: string | null
  readonly project_id: string
  readonly payload: string
  readonly cron_schedule: string | null
  readonly next_fire_at: string | null
  readonly max_retries: number
  readonly status: JobStatus
  readonly created_at: string
  readonly runs: readonly WireSubmittedRun[]
}

export interface WireSubmittedRun {
  readonly run_id: string
  readonly status: JobStatus
  readonly triggered_at: string
  readonly completed_at: string | null
  readonly output: string
  readonly worker_id: string | null
  readonly error_message: string | null
}

/** Headers are limited to ASCII; other characters are decoded differently by each program. */
export const USER_ID = /^[\x21-\x7e]([\x20-\x7e]{0,126}[\x21-\x7e])?$/

/** Answer to a worker of these protocols when there is no job: no content, or `{"job": null}`. */
export const EMPTY_ANSWERS = ['204', 'json'] as const

export type EmptyAnswer = (typeof EMPTY_ANSWERS)[number]
