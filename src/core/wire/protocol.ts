import type { Execution } from '../worker/execution.ts'
import type { FlowView, StepPlace } from '../workflow/step-views.ts'
import type { Labels } from '../worker/labels.ts'
import type { Progress } from '../text/markers.ts'
import type { Wanted } from '../run/needs.ts'
import type { Entry, ProcessEnd } from '../run/output.ts'
import type { PolicyInput } from '../run/run-policy.ts'
import type { RetryHow } from '../run/retry-options.ts'
import type { Cause, FinalState, RunState } from '../run/run-state.ts'
import type { GivenSecret, SecretUse } from '../work/secret.ts'
import type { SubmitOutcome } from './submit-outcome.ts'
import type { Work } from '../work/work.ts'

/**
 * What clients and workers say to a scheduler. HTTP carries these as JSON; `punctual up` and tests
 * hand them over in memory. Ids are public ids (`run_…`), times are milliseconds since 1970.
 */
export interface SchedulerClient extends Submitting, Working {}

export interface Submitting {
  /** Durable when it resolves. One answer per submission, in order; rejects if any was refused. */
  submit(submissions: readonly Submission[]): Promise<SubmitAnswer[]>
  /** The same, with each refusal in its place: the others are stored all the same. */
  submitEach(submissions: readonly Submission[]): Promise<SubmitOutcome[]>
  getRun(id: string): Promise<RunView>
  listRuns(query?: ListQuery): Promise<RunPage>
  /** `cause` says who asks, for the record. */
  cancel(id: string, cause?: ChangeCause): Promise<CancelAnswer>
  /**
   * A finished run again, as a new one that names it in `retryOf`: all of it, or as much as is said.
   * With a key, once however often it is asked for.
   */
  retry(id: string, idempotencyKey?: string, how?: RetryHow): Promise<SubmitAnswer>
}

export interface Working {
  register(hello: Hello): Promise<Welcome>
  exchange(session: string, message: Exchange, signal?: AbortSignal): Promise<ExchangeAnswer>
  heartbeat(session: string, message: Heartbeat): Promise<HeartbeatAnswer>
  /** The same as it travels. Absent where nobody but this client can send it. */
  heartbeatPost?(session: string, message: Heartbeat): HeartbeatPost
  /** What attempts have printed so far. Durable when it resolves. */
  log(session: string, message: LogMessage): Promise<LogAnswer>
  /** Ends the session: whatever it still holds is given back uncounted. */
  leave(session: string, registration: number): Promise<void>
}

export interface Submission extends PolicyInput {
  readonly job: string
  readonly input?: unknown
  readonly queue?: string | undefined
  readonly priority?: number | undefined
  /** Not before this time; the past means now. */
  readonly runAt?: number | undefined
  /** The time it is for, as the clocks of its schedule show it; never said by clients. */
  readonly scheduledAt?: string | undefined
  /** Only for workers that carry all of these. */
  readonly runsOn?: { readonly labels?: Labels | undefined } | undefined
  readonly weight?: number | undefined
  /** The process to start. Without it, the run is for a function. */
  readonly work?: Work | undefined
  /** The function to call, if it is not named like the job. */
  readonly task?: string | undefined
  readonly timeoutMs?: number | undefined
  /** At most `limit` runs with the same key are ready or running at once. */
  readonly concurrency?: readonly { readonly key: string; readonly limit: number }[] | undefined
  /** While a run with this key is live, submitting again answers with that run. */
  readonly dedupeKey?: string | undefined
  /** The same submission sent again with this key is the same run, for a day. */
  readonly idempotencyKey?: string | undefined
  readonly tags?: Readonly<Record<string, string>> | undefined
  /** It waits for these to end, `ok` unless it says otherwise, and is skipped if that cannot be any more. */
  readonly after?: readonly { readonly run: string; readonly on?: Wanted | undefined }[] | undefined
}

export interface SubmitAnswer {
  readonly id: string
  /** False when a dedupe or idempotency key led to a run that already existed. */
  readonly created: boolean
}

/** The request a change comes from, and where that came from. */
export interface ChangeCause {
  readonly request: string | null
  readonly address: string | null
}

export interface CancelAnswer {
  readonly id: string
  /** `cancelled` now, or `cancelling`: its worker has been told to stop. */
  readonly state: 'cancelled' | 'cancelling'
}

export interface ListQuery {
  readonly state?: RunState | undefined
  readonly job?: string | undefined
  /** In the filter language: `state:failed job:etl-* since:24h`. */
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
  /** Of its job's definition, which it keeps; null if there was none. */
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
  /** How far it says it is; of a run that has ended, the last it said. */
  readonly progress: RunProgress | null
  readonly createdAt: number
  readonly dueAt: number | null
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly retryOf: string | null
  readonly tags: Readonly<Record<string, string>>
  /** The process to start, when it is the run's own and not its job's. */
  readonly work: Work | null
  /** What its attempts are given when they start; never a value. */
  readonly secrets: readonly SecretUse[]
  readonly input: unknown
  readonly result: unknown
  /** How large they are, if they are kept outside the row; lists then leave them out. */
  readonly inputBytes: number | null
  readonly resultBytes: number | null
  /** How far it has come, if it is a workflow. Not in lists. */
  readonly workflow?: FlowView | null | undefined
  /** The workflow it is a step of, if it is one. Not in lists. */
  readonly step?: StepPlace | null | undefined
  /** What made it run, if that was the end of another. Not in lists. */
  readonly trigger?: RunTrigger | null | undefined
}

/** The run that ended before it, of which job, and how. */
export interface RunTrigger {
  readonly kind: 'after'
  readonly run: string
  readonly job: string
  readonly state: FinalState
}

export interface RunProgress extends Progress {
  readonly at: number
}

/** A worker introduces itself, or comes back under the same session id with what it still holds. */
export interface Hello {
  readonly name: string
  readonly projects?: readonly string[] | undefined
  readonly queues: readonly string[]
  readonly labels: Labels
  readonly executors: readonly string[]
  /** What it understands beyond the first version of this protocol. */
  readonly features?: readonly string[] | undefined
  readonly slots: number
  /** Users its processes may run as, besides its own choice. */
  readonly users?: readonly string[] | undefined
  readonly execution?: Execution | undefined
  readonly session?: string | undefined
  /** Counts this session's registrations from 1; a delayed older one is refused. */
  readonly registration: number
  readonly held: readonly Held[]
  /** Attempts it started and had to stop, unreported, since its last welcome: lost, and to be counted so. */
  readonly forsaken: readonly Held[]
}

export interface Held {
  readonly run: string
  readonly fence: number
}

export interface Welcome {
  readonly session: string
  readonly leaseTtlMs: number
  readonly heartbeatMs: number
  /** Of the attempts listed as held, those this session no longer owns: stop them. */
  readonly lost: readonly string[]
}

/**
 * Finished attempts out, new ones in: one round trip per batch. Repeated until answered, or
 * superseded by the next number when there is more to report; an answer to a superseded number is
 * ignored. The server includes every grant the worker has not confirmed through `answered`, so
 * neither a lost answer nor a superseded one strands a run.
 */
export interface Exchange {
  readonly registration: number
  readonly number: number
  /** The last exchange whose answer was taken in; 0 after a registration. */
  readonly answered: number
  readonly done: readonly Done[]
  /** Slots free after `done`. */
  readonly free: number
  /** How long the server may hold the answer while there is nothing to run. */
  readonly waitMs: number
}

export interface Done extends Held {
  readonly outcome: 'succeeded' | 'failed' | 'cancelled' | 'given_back'
  readonly cause?: Exclude<Cause, 'lost' | 'cancelled'> | undefined
  readonly message?: string | undefined
  /** False when another try would fail the same way. */
  readonly retriable?: boolean | undefined
  /** JSON text of the result: opaque to the server. */
  readonly result?: string | undefined
  readonly process?: ProcessEnd | undefined
}

export interface ExchangeAnswer {
  readonly number: number
  /** One verdict per `done`, in order: `accepted` (also when repeated), or `stale`. */
  readonly verdicts: readonly ('accepted' | 'stale')[]
  readonly runs: readonly Assignment[]
}

export interface Assignment extends Held {
  readonly job: string
  readonly project: string
  readonly attempt: number
  readonly weight: number
  readonly timeoutMs: number | null
  /** The nominal time it was due, for jobs that care. */
  readonly dueAt: number
  /** The process to start; null for a function. */
  readonly work: Work | null
  /** The function to call, if it is not named like the job. */
  readonly task: string | null
  /** JSON text of the input. */
  readonly input: string | null
  /** Their values, for this attempt alone: kept out of everything that is printed or reported. */
  readonly secrets?: readonly GivenSecret[]
}

export interface Heartbeat {
  readonly registration: number
  /** The last exchange whose answer was taken in: what it granted and is not held was never started. */
  readonly answered: number
  readonly held: readonly Held[]
  /** Why the worker takes nothing, while it has put itself in quarantine. */
  readonly quarantined?: string | undefined
}

/** A heartbeat for somebody who can do nothing but send it, to any of these addresses. */
export interface HeartbeatPost {
  readonly urls: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface HeartbeatAnswer {
  /** Attempts listed that this session no longer owns: stop them, report nothing. */
  readonly lost: readonly string[]
  /** Attempts to stop and report as cancelled. */
  readonly cancels: readonly string[]
}

export interface LogMessage {
  readonly registration: number
  /** Those of one attempt numbered one after the other. */
  readonly chunks: readonly LogChunkMessage[]
  /** How far attempts say they are, where that is new. */
  readonly progress?: readonly (Held & Progress)[] | undefined
}

export interface LogChunkMessage extends Held {
  /** Counted from 0; sent only with or after the one before it, and again until it is stored. */
  readonly chunk: number
  readonly entries: readonly Entry[]
}

export interface LogAnswer {
  /** For each, how many chunks of its attempt are stored; null if it is not this session's. */
  readonly stored: readonly (number | null)[]
}
