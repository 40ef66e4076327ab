import { isFinal } from '../../core/run/run-state.ts'
import type { RunRecord } from '../../store/port.ts'

/** How a job stands, in four words. */
export const JOB_STATUSES = ['pending', 'running', 'failed', 'succeeded'] as const
export type JobStatus = (typeof JOB_STATUSES)[number]

/** How a run stands that somebody has begun. */
export const RUN_STATUSES = ['running', 'success', 'failure'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

type Standing = Pick<RunRecord, 'state' | 'attempt' | 'startedAt'>

/** What was cancelled or skipped did not do its work, and there is no word for why. */
export function jobStatus(run: Standing | undefined): JobStatus {
  if (!run || !hasBegun(run)) return run && isFinal(run.state) ? 'failed' : 'pending'
  if (!isFinal(run.state)) return run.state === 'running' ? 'running' : 'pending'
  return run.state === 'succeeded' ? 'succeeded' : 'failed'
}

/** A run that waits for another attempt has begun and not ended. */
export function runStatus({ state }: Standing): RunStatus {
  if (!isFinal(state)) return 'running'
  return state === 'succeeded' ? 'success' : 'failure'
}

/** Somebody has had it in hand, now or before. */
export function hasBegun({ attempt, startedAt }: Standing): boolean {
  return startedAt !== null || attempt > 1
}
