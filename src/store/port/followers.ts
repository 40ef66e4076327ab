import type { Wanted } from '../../core/run/needs.ts'
import type { FinalState } from '../../core/run/run-state.ts'
import type { NewRun } from './tick.ts'

/**
 * Jobs that run after others. Who follows whom changes with `putJob` and `deleteJob`, in their
 * transactions. Whatever ends a run writes down, in the transaction that ends it, which jobs are to
 * run after it: each is settled once, by a run or by the reason why there is none. A run that is a
 * step of a workflow counts only for those who follow that very step.
 */
export interface FollowStore {
  /** What nobody has settled yet, oldest first. Cheap to ask where there is nothing. */
  openFollowUps(input: { limit: number }): Promise<readonly FollowUp[]>
  /**
   * Makes the runs, and says of the others why there are none, all in one transaction. What somebody
   * else has settled is left as it is, and no run is made for it.
   */
  settleFollowUps(input: {
    node: number
    settled: readonly SettledFollowUp[]
  }): Promise<FollowUpsSettled>
  /** What a run was made after; null if it was not. */
  followedBy(input: { runId: number }): Promise<FollowUpRecord | null>
  /** What came of the end of a run, in order of jobs. */
  followUpsAfter(input: { runId: number }): Promise<readonly FollowUpRecord[]>
  /** The latest of a job, newest first. */
  followUpsOf(input: { jobId: number; limit: number }): Promise<readonly FollowUpRecord[]>
  /** The jobs that follow a job or one of its steps, by name. */
  followersOf(input: { projectId: number; name: string }): Promise<readonly string[]>
}

/** One job that another follows, for as long as its definition says so. */
export interface FollowWish {
  /** A job, whether or not it is defined, or a step of one: `etl/load`. */
  readonly source: string
  /** The job whose runs bring that about: the same, or the workflow of the step. */
  readonly cause: string
  readonly wants: Wanted
}

/** `circle`: each of these would start the next, for ever. `crowded`: as many follow it as may. */
export type FollowRefusal =
  | { readonly kind: 'circle'; readonly path: readonly string[] }
  | { readonly kind: 'crowded'; readonly source: string }

/** A run has ended, and a job is to run after it. */
export interface FollowUp {
  readonly sourceRunId: number
  readonly jobId: number
  readonly projectId: number
  /** Of the run that ended. */
  readonly sourceJobId: number
  readonly state: FinalState
  readonly at: number
}

export interface FollowUpRecord extends FollowUp {
  /** Null while it is open, or if there is none. */
  readonly runId: number | null
  /** Why there is none. */
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
  /** Runs that are there now. */
  readonly made: readonly number[]
  /** Those of them that went to the sessions they were promised to. */
  readonly started: readonly number[]
  /** Lanes that got ready runs. */
  readonly lanes: readonly number[]
}
