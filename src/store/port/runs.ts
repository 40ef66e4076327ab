import type { Cause, RunState } from '../../core/run/run-state.ts'

export interface RunQueries {
  findRun(input: { projectId: number; runId: number }): Promise<RunRecord | null>
  /** Those of these runs that are there, of any project, in no particular order. */
  findRuns(input: { runIds: readonly number[] }): Promise<readonly RunRecord[]>
  /** Attempts of a run that went on after them, oldest first. Its last attempt is in the run. */
  attemptsOf(input: { runId: number }): Promise<readonly AttemptRecord[]>
  /** Newest first, ids below `before`. */
  listRuns(input: RunFilter): Promise<readonly RunRecord[]>
  /** Counts of waiting and running runs now; history is never counted. */
  liveCounts(): Promise<Readonly<Record<'ready' | 'scheduled' | 'blocked' | 'running', number>>>
}

export interface RunFilter {
  readonly projectId: number
  readonly state: RunState | null
  readonly jobId: number | null
  /** Leaves out the steps of workflows. */
  readonly withoutSteps?: boolean
  readonly before: number
  readonly limit: number
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
  /** Of the attempt under way, or of the one that ended it. */
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
