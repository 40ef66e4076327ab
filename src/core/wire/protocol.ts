import type { Execution } from '../worker/execution.ts'
import type { StepIdentity, WorkflowView } from './workflow-view.ts'
import type { Labels } from '../worker/labels.ts'
import type { Progress } from '../text/markers.ts'
import type { WantedOutcome } from '../run/needs.ts'
import type { OutputEntry, ProcessEnd } from '../run/output.ts'
import type { PolicyInput } from '../run/run-policy.ts'
import type { RetryOptions } from '../run/retry-options.ts'
import type { Cause, FinalState, RunState } from '../run/run-state.ts'
import type { GivenSecret, SecretUse } from '../secrets/secret.ts'
import type { SubmitOutcome } from './submit-outcome.ts'
import type { Work } from '../work/work.ts'

/**
 * The messages that clients and workers exchange with a scheduler. HTTP carries them as JSON; `punctual up` and tests
 * pass them in memory. Ids are public ids (`run_…`), times are milliseconds since 1970.
 */
export interface SchedulerClient extends SubmitClient, WorkerClient {}

export interface SubmitClient {
  /** Durable when it resolves. Returns one answer per submission, in order; rejects if any was rejected. */
  submit(submissions: readonly Submission[]): Promise<SubmitAnswer[]>
  /** The same, with each error in its place; the other submissions are stored. */
  submitEach(submissions: readonly Submission[]): Promise<SubmitOutcome[]>
  getRun(id: string): Promise<RunView>
  listRuns(query?: ListQuery): Promise<RunPage>
  /** `cause` identifies the request for the audit log. */
  cancel(id: string, cause?: ChangeCause): Promise<CancelAnswer>
  /**
   * Runs a finished run again, as a new run that names it in `retryOf`: all of it, or the part that `how` selects.
   * With an idempotency key it happens once, however often it is sent.
   */
  retry(id: string, idempotencyKey?: string, how?: RetryOptions): Promise<SubmitAnswer>
}

export interface WorkerClient {
  /** `secret` is the secret from the answer to the first registration of `hello.session`. */
  register(hello: Hello, secret?: string): Promise<Welcome>
  exchange(session: SessionKey, message: Exchange, signal?: AbortSignal): Promise<ExchangeAnswer>
  heartbeat(session: SessionKey, message: Heartbeat): Promise<HeartbeatAnswer>
  /** The same heartbeat as an HTTP request. Absent if only this client can send it. */
  heartbeatPost?(session: SessionKey, message: Heartbeat): HeartbeatPost
  /** Sends printed output. Durable when it resolves. */
  log(session: SessionKey, message: LogMessage): Promise<LogAnswer>
  /** Ends the session: attempts that it still holds are given back and do not count. */
  leave(session: SessionKey, registration: number): Promise<void>
}

/** Identifies a session and proves that the caller is its worker. */
export interface SessionKey {
  readonly id: string
  /** Absent in the first version of the protocol. */
  readonly secret?: string | undefined
}

/** The versions of the worker protocol, oldest first. */
export const PROTOCOLS = [1, 2] as const

/** What happens to a run whose job is not defined and that has no work of its own. */
export const UNKNOWN_JOB = ['accept', 'refuse'] as const
export type UnknownJob = (typeof UNKNOWN_JOB)[number]

export interface Submission extends PolicyInput {
  readonly job: string
  readonly input?: unknown
  readonly queue?: string | undefined
  readonly priority?: number | undefined
  /** The earliest start; a past time means now. */
  readonly runAt?: number | undefined
  /** Its scheduled time in the zone of its schedule; never set by clients. */
  readonly scheduledAt?: string | undefined
  /** Only workers with all these labels may run it. */
  readonly runsOn?: { readonly labels?: Labels | undefined } | undefined
  readonly weight?: number | undefined
  /** The process to start. Without it, the run calls a function of a worker. */
  readonly work?: Work | undefined
  /** The function to call, if its name differs from the job. */
  readonly task?: string | undefined
  /**
   * Whether to reject the run if the job is not defined and no current or recent worker has a handler with its name.
   */
  readonly unknownJob?: UnknownJob | undefined
  readonly timeoutMs?: number | undefined
  /** At most `limit` runs with the same key are ready or running at the same time. */
  readonly concurrency?: readonly { readonly key: string; readonly limit: number }[] | undefined
  /** While a run with this key has not ended, a new submission returns that run. */
  readonly dedupeKey?: string | undefined
  /** Submitting again with this key within a day returns the same run. */
  readonly idempotencyKey?: string | undefined
  readonly tags?: Readonly<Record<string, string>> | undefined
  /** The run waits for these runs to end (`ok` by default), and is skipped if that becomes impossible. */
  readonly after?:
    | readonly { readonly run: string; readonly on?: WantedOutcome | undefined }[]
    | undefined
}

export interface SubmitAnswer {
  readonly id: string
  /** False if a dedupe or idempotency key matched an existing run. */
  readonly created: boolean
}

/** The request that caused a change, and its client address. */
export interface ChangeCause {
  readonly request: string | null
  readonly address: string | null
}

export interface CancelAnswer {
  readonly id: string
  /** `cancelled` at once, or `cancelling`: its worker was asked to stop. */
  readonly state: 'cancelled' | 'cancelling'
}

export interface ListQuery {
  readonly state?: RunState | undefined
  readonly job?: string | undefined
  /** A filter expression: `state:failed job:etl-* since:24h`. */
  readonly q?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export interface RunPage {
  readonly runs: readonly RunView[]
  readonly next: string | null
}

export interface RunView {
  readonly id: string
  readonly job: string
  readonly project: string
  readonly queue: string
  /** The version of the job's definition that the run uses; null if there was none. */
  readonly version: number | null
  readonly state: RunState
  readonly cancelling: boolean
  readonly priority: number
  readonly attempt: number
  readonly lost: number
  readonly cause: Cause | null
  readonly message: string | null
  readonly worker: string | null
  readonly process: ProcessEnd | null
  /** The latest reported progress; after the end, the last one. */
  readonly progress: RunProgress | null
  readonly createdAt: number
  /** The name of a token, or the origin of the run: `schedule etl/nightly`, `workflow run_…`. */
  readonly createdBy: string
  readonly dueAt: number | null
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly retryOf: string | null
  readonly tags: Readonly<Record<string, string>>
  /** The process to start, if the run has work of its own. */
  readonly work: Work | null
  /** The secrets that its attempts receive; never their values. */
  readonly secrets: readonly SecretUse[]
  readonly input: unknown
  readonly result: unknown
  /** The sizes of input and result if they are stored outside the row; lists then omit the values. */
  readonly inputBytes: number | null
  readonly resultBytes: number | null
  /** Its progress, if it is a workflow. Not in lists. */
  readonly workflow?: WorkflowView | null | undefined
  /** The workflow and step it belongs to, if any. Not in lists. */
  readonly step?: StepIdentity | null | undefined
  /** The run whose end triggered it, if any. Not in lists. */
  readonly trigger?: RunTrigger | null | undefined
}

/** The triggering run, its job, and how it ended. */
export interface RunTrigger {
  readonly kind: 'after'
  readonly run: string
  readonly job: string
  readonly state: FinalState
}

export interface RunProgress extends Progress {
  readonly at: number
}

/** A worker registers, or reconnects under the same session id with the attempts that it still holds. */
export interface Hello {
  readonly name: string
  readonly projects?: readonly string[] | undefined
  readonly queues: readonly string[]
  readonly labels: Labels
  readonly executors: readonly string[]
  /** Capabilities beyond the first version of this protocol. */
  readonly features?: readonly string[] | undefined
  readonly slots: number
  /** Users its processes may run as, besides the user of the worker. */
  readonly users?: readonly string[] | undefined
  readonly execution?: Execution | undefined
  /** Supported versions of the protocol; absent for only the first. */
  readonly protocol?: readonly number[] | undefined
  readonly session?: string | undefined
  /** Counts this session's registrations from 1; a delayed older one is rejected. */
  readonly registration: number
  readonly held: readonly LeasedAttempt[]
  /** Attempts that it started and had to stop without a report since the last welcome: they count as lost. */
  readonly forsaken: readonly LeasedAttempt[]
}

export interface LeasedAttempt {
  readonly run: string
  readonly fence: number
}

export interface Welcome {
  readonly session: string
  /** The protocol version used by the session. */
  readonly protocol?: number | undefined
  /** Authenticates the session's requests. Only in the answer to its first registration. */
  readonly secret?: string | undefined
  /** The public id of the worker. It does not authenticate. */
  readonly worker?: string | undefined
  readonly leaseTtlMs: number
  readonly heartbeatMs: number
  /** Listed attempts that this session no longer owns: the worker must stop them. */
  readonly lost: readonly string[]
}

/**
 * One round trip reports finished attempts and receives new ones. The worker repeats it until it is answered, or
 * supersedes it with the next number when there is more to report; it ignores answers to superseded numbers. The
 * answer includes every assignment that the worker has not confirmed through `answered`, so no run is stranded by a
 * lost or superseded answer.
 */
export interface Exchange {
  readonly registration: number
  readonly number: number
  /** The last exchange whose answer was processed; 0 after a registration. */
  readonly answered: number
  readonly done: readonly FinishedAttempt[]
  /** Free slots after `done`. */
  readonly free: number
  /** How long the server may delay the answer while there is nothing to run. */
  readonly waitMs: number
}

export interface FinishedAttempt extends LeasedAttempt {
  readonly outcome: 'succeeded' | 'failed' | 'cancelled' | 'given_back'
  readonly cause?: Exclude<Cause, 'lost' | 'cancelled'> | undefined
  readonly message?: string | undefined
  /** False if another attempt would fail in the same way. */
  readonly retriable?: boolean | undefined
  /** The result as JSON text; the server does not interpret it. */
  readonly result?: string | undefined
  readonly process?: ProcessEnd | undefined
}

export interface ExchangeAnswer {
  readonly number: number
  /** One verdict per entry of `done`, in order: `accepted` (also for a repeated report), or `stale`. */
  readonly verdicts: readonly ('accepted' | 'stale')[]
  readonly runs: readonly Assignment[]
}

export interface Assignment extends LeasedAttempt {
  readonly job: string
  readonly project: string
  readonly attempt: number
  readonly weight: number
  readonly timeoutMs: number | null
  /** The nominal time of the run. */
  readonly dueAt: number
  /** The process to start; null for a function. */
  readonly work: Work | null
  /** The function to call, if its name differs from the job. */
  readonly task: string | null
  /** The input as JSON text. */
  readonly input: string | null
  /** Secret values for this attempt only: the worker masks them in everything printed or reported. */
  readonly secrets?: readonly GivenSecret[]
}

export interface Heartbeat {
  readonly registration: number
  /**
   * The last exchange whose answer was processed: an assignment from it that is not listed as held was never started.
   */
  readonly answered: number
  readonly held: readonly LeasedAttempt[]
  /** Why the worker takes no runs; set while it is in quarantine. */
  readonly quarantined?: string | undefined
}

/** A complete heartbeat request that another process or thread can send to any of these addresses. */
export interface HeartbeatPost {
  readonly urls: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface HeartbeatAnswer {
  /** Listed attempts that this session no longer owns: stop them without a report. */
  readonly lost: readonly string[]
  /** Attempts to stop and report as cancelled. */
  readonly cancels: readonly string[]
}

export interface LogMessage {
  readonly registration: number
  /** The chunks of one attempt have consecutive numbers. */
  readonly chunks: readonly LogChunkMessage[]
  /** Progress of attempts that changed. */
  readonly progress?: readonly (LeasedAttempt & Progress)[] | undefined
}

export interface LogChunkMessage extends LeasedAttempt {
  /** Counted from 0. A chunk is sent with or after the previous one, and again until it is stored. */
  readonly chunk: number
  readonly entries: readonly OutputEntry[]
}

export interface LogAnswer {
  /** For each chunk, the number of stored chunks of its attempt; null if this session does not own it. */
  readonly stored: readonly (number | null)[]
}
