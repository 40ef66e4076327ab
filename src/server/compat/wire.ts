import type { JobStatus, RunStatus } from './statuses.ts'

/** What the old protocols show, as it travels: every name here is a promise to programs that are not ours. */

export interface WirePlainJob {
  readonly id: number
  readonly name: string
  readonly command: string | null
  readonly schedule: string | null
  readonly created_at: string
  readonly status: JobStatus
}

export interface WirePlainRun {
  readonly run_id: number
  readonly job_id: number
  readonly worker_id: string | null
  readonly start_time: string | null
  readonly end_time: string | null
  readonly status: RunStatus
  readonly logs: string
}

export interface WirePlainJobDetail extends WirePlainJob {
  readonly last_run: WirePlainRun | null
}

/** A job for a worker to do, now. */
export interface WirePlainTask extends Omit<WirePlainJob, 'status'> {
  readonly run_id: number
  readonly attempt: number
}

export interface WirePlainWorker {
  readonly worker_id: string
  readonly last_seen: string
  readonly status: 'active' | 'inactive'
}

export interface WirePlainReport {
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
