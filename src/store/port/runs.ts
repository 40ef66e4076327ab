import type { Cause, RunState } from '../../core/run/run-state.ts'

export interface RunQueries {
  findRun(input: { projectId: number; runId: number }): Promise<RunRecord | null>
  /** Those of these runs that exist, in any project, in no particular order. */
  findRuns(input: { runIds: readonly number[] }): Promise<readonly RunRecord[]>
  /**
   * What created these runs, for the ones that were created automatically, in no particular order.
   */
  originsOf(input: { runIds: readonly number[] }): Promise<readonly RunOrigin[]>
  /** Earlier attempts of a run, oldest first. The last attempt is in the run itself. */
  attemptsOf(input: { runId: number }): Promise<readonly AttemptRecord[]>
  /** Newest first, ids below `before`. */
  listRuns(input: RunListFilter): Promise<readonly RunRecord[]>
  /**
   * One page of the runs that match a filter, newest first. It examines at most `examine` rows, so a
   * page may be short or empty although more follows: then `before` says where to continue.
   */
  searchRuns(input: RunSearch): Promise<RunSearchPage>
  /** Ids of the jobs of a project that have one of these names, in no particular order. */
  findJobs(input: { projectId: number; names: readonly string[] }): Promise<readonly number[]>
  /** Current counts of waiting and running runs; history is never counted. */
  liveCounts(): Promise<Readonly<Record<'ready' | 'scheduled' | 'blocked' | 'running', number>>>
}

export interface RunListFilter {
  readonly projectId: number
  readonly state: RunState | null
  readonly jobId: number | null
  /** Leaves out the steps of workflows. */
  readonly withoutSteps?: boolean
  readonly before: number
  readonly limit: number
}

/** Every condition must hold; null means any. In texts, `*` stands for any characters. */
export interface RunSearch {
  readonly projectId: number
  readonly states: readonly RunState[] | null
  readonly jobIds: readonly number[] | null
  readonly jobNames: readonly string[] | null
  readonly queues: readonly string[] | null
  readonly workers: readonly string[] | null
  readonly causes: readonly Cause[] | null
  readonly tags: readonly { readonly name: string; readonly values: readonly string[] }[]
  /** Leaves out the steps of workflows. */
  readonly withoutSteps: boolean
  /** Ids from `from` on and below `before`. */
  readonly from: number
  readonly before: number
  readonly limit: number
  /** The maximum number of rows to examine, and roughly how long to take. */
  readonly examine: number
  readonly maxMs: number
}

export interface RunSearchPage {
  readonly runs: readonly RunRecord[]
  /** Null at the end: no older run matches. */
  readonly before: number | null
}

export interface RunRecord {
  readonly id: number
  readonly projectId: number
  readonly jobId: number
  readonly laneId: number
  readonly rank: number
  readonly state: RunState
  readonly cancelling: boolean
  readonly attempt: number
  /** Fence of the attempt under way, or of the one that ended the run. */
  readonly fence: number | null
  readonly lost: number
  readonly cause: Cause | null
  readonly message: string | null
  readonly worker: string | null
  readonly createdAt: number
  readonly dueAt: number | null
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly timeoutMs: number | null
  readonly policy: string | null
  readonly version: number | null
  readonly createdBy: number | null
  readonly work: string | null
  readonly input: string | null
  readonly result: string | null
  readonly process: string | null
  readonly tags: string | null
  readonly gates: readonly number[]
  readonly retryOf: number | null
}

/** Exactly one of these created the run; a backfill names its schedule as well. */
export interface RunOrigin {
  readonly runId: number
  readonly scheduleId: number | null
  readonly backfillId: number | null
  /** The run whose end triggered it. */
  readonly afterRunId: number | null
  /** The first workflow it is a step of. */
  readonly workflowRunId: number | null
}

export interface AttemptRecord {
  readonly attempt: number
  readonly fence: number
  readonly cause: Cause | null
  readonly message: string | null
  readonly worker: string | null
  readonly process: string | null
  readonly startedAt: number
  readonly finishedAt: number
}
