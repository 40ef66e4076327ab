import { isFinal } from '../../core/run/run-state.ts'
import type { RunRecord } from '../../store/port.ts'

/** The four states of a job. */
export const JOB_STATUSES = ['pending', 'running', 'failed', 'succeeded'] as const
export type JobStatus = (typeof JOB_STATUSES)[number]

/** The states of a run that has begun. */
export const RUN_STATUSES = ['running', 'success', 'failure'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

type RunProgressState = Pick<RunRecord, 'state' | 'attempt' | 'startedAt'>

/**
 * A recurring job between two runs is pending, whatever the result of the last one. While a later
 * run waits for the previous one, the job is running.
 */
export function jobStatus(
  latest: RunProgressState | undefined,
  job: { readonly willRecur: boolean; readonly isRunning: boolean } = ONCE,
): JobStatus {
  if (job.isRunning) return 'running'
  if (job.willRecur && (!latest || isFinal(latest.state))) return 'pending'
  return submittedRunStatus(latest)
}

const ONCE = { willRecur: false, isRunning: false }

/** A cancelled or skipped run counts as failed, because the protocol has no other word. */
export function submittedRunStatus(run: RunProgressState | undefined): JobStatus {
  if (!run || !hasBegun(run)) return run && isFinal(run.state) ? 'failed' : 'pending'
  if (!isFinal(run.state)) return run.state === 'running' ? 'running' : 'pending'
  return run.state === 'succeeded' ? 'succeeded' : 'failed'
}

/** A run that waits for another attempt has begun and not ended. */
export function runStatus({ state }: RunProgressState): RunStatus {
  if (!isFinal(state)) return 'running'
  return state === 'succeeded' ? 'success' : 'failure'
}

/** Whether a worker has ever had the run. */
export function hasBegun({ attempt, startedAt }: RunProgressState): boolean {
  return startedAt !== null || attempt > 1
}
