import type { WantedOutcome } from '../../core/run/needs.ts'
import type { FinalState } from '../../core/run/run-state.ts'
import type { NewRun } from './tick.ts'

/**
 * Jobs that run after other jobs. The follow rules change with `putJob` and `deleteJob`, in their
 * transactions. The transaction that ends a run also records which jobs are to run after it: each
 * of these follow-ups is settled once, by a run or by the reason why there is none. A run that is a
 * step of a workflow counts only for rules that name this very step.
 */
export interface FollowStore {
  /** Follow-ups that are not settled yet, oldest first. Cheap when there are none. */
  openFollowUps(input: { limit: number }): Promise<readonly FollowUp[]>
  /**
   * Creates the runs, and records for the other follow-ups why there is none, all in one
   * transaction. A follow-up that another node has settled stays as it is, and no run is created
   * for it.
   */
  settleFollowUps(input: {
    node: number
    settled: readonly SettledFollowUp[]
  }): Promise<FollowUpsSettled>
  /** The follow-up that created this run; null if none did. */
  followedBy(input: { runId: number }): Promise<FollowUpRecord | null>
  /** Follow-ups of the end of a run, in order of jobs. */
  followUpsAfter(input: { runId: number }): Promise<readonly FollowUpRecord[]>
  /** The latest follow-ups of a job, newest first. */
  followUpsOf(input: { jobId: number; limit: number }): Promise<readonly FollowUpRecord[]>
  /** The jobs that follow a job or one of its steps, by name. */
  followersOf(input: { projectId: number; name: string }): Promise<readonly string[]>
}

/** One job that another follows, for as long as its definition says so. */
export interface FollowRule {
  /** A job, defined or not, or a step of a job: `etl/load`. */
  readonly source: string
  /**
   * The job whose runs trigger the follow-up: the source itself, or the workflow the step belongs
   * to.
   */
  readonly cause: string
  readonly wants: WantedOutcome
}

/**
 * `cycle`: each of these jobs would start the next, for ever. `too_many`: the source already has
 * the maximum number of followers.
 */
export type FollowRefusal =
  | { readonly kind: 'cycle'; readonly path: readonly string[] }
  | { readonly kind: 'too_many'; readonly source: string }

/** A run has ended, and a job is to run after it. */
export interface FollowUp {
  readonly sourceRunId: number
  readonly jobId: number
  readonly projectId: number
  /** Job of the run that ended. */
  readonly sourceJobId: number
  readonly state: FinalState
  readonly at: number
}

export interface FollowUpRecord extends FollowUp {
  /** Null while the follow-up is open, or if it was settled without a run. */
  readonly runId: number | null
  /** Why there is no run. */
  readonly reason: string | null
  readonly settledAt: number | null
}

export interface SettledFollowUp {
  readonly sourceRunId: number
  readonly jobId: number
  readonly outcome: { readonly run: NewRun } | { readonly reason: string }
}

export interface FollowUpsSettled {
  /** The store's clock. */
  readonly now: number
  /** Follow-up runs that now exist. */
  readonly made: readonly number[]
  /** Those of them that went to the sessions reserved for them. */
  readonly started: readonly number[]
  /** Lanes that received ready runs. */
  readonly lanes: readonly number[]
}
