import { parseDuration, writeDuration } from '../text/duration.ts'
import { PunctualError } from '../errors.ts'
import { writeHttp } from '../work/http-work.ts'
import { requirePublicId } from '../ids.ts'
import type { Progress } from '../text/markers.ts'
import type { RunPage, RunProgress, RunView, Submission, SubmitAnswer } from './protocol.ts'
import { readRetry, type WireRetry, writeRetry } from './retry.ts'
import { readSecrets, type SecretInput, writeSecrets } from '../secrets/secret.ts'
import type { WirePage } from './views.ts'
import { writeLimits } from '../work/work-limits.ts'
import { formatTime, parseTime } from '../text/time-text.ts'
import { readWork, type Work, type WorkInput } from '../work/work.ts'

export { formatTime, parseTime }

/**
 * The protocol as JSON: snake_case names, times as RFC 3339 text, durations such as `15m`, and plain milliseconds
 * only in names that end in `_ms`. Server and client convert here and nowhere else. Messages with the same names on
 * both sides (hello, heartbeat, done) are sent unchanged.
 */
export interface WireSubmission extends WorkInput {
  /** Required unless the run has its own work. */
  readonly job?: string | undefined
  readonly input?: unknown
  readonly queue?: string | undefined
  readonly priority?: number | undefined
  readonly run_at?: string | undefined
  readonly runs_on?: Submission['runsOn']
  readonly weight?: number | undefined
  readonly task?: string | undefined
  readonly unknown_job?: Submission['unknownJob']
  readonly timeout?: string | undefined
  readonly retry?: WireRetry | undefined
  readonly on_lost?: 'retry' | 'fail' | undefined
  readonly secrets?: readonly SecretInput[] | undefined
  readonly concurrency?: Submission['concurrency']
  readonly dedupe_key?: string | undefined
  readonly idempotency_key?: string | undefined
  readonly after?: Submission['after']
  readonly tags?: Readonly<Record<string, string>> | undefined
}

type Gates = NonNullable<Submission['concurrency']>

/** The job name of a run without a job. */
export const NAMELESS_JOB = 'adhoc'

/** One object shape for every submission, whatever fields it omits: thousands are converted at once. */
export function readSubmission(wire: WireSubmission, at = ''): Submission {
  const work = readWork(wire, at)
  if (wire.job === undefined && !work) {
    const message = `${at}job is missing: name a job, or give run, argv, script, http or container`
    throw new PunctualError('missing_field', message, { field: `${at}job` })
  }
  if (work && wire.task !== undefined) {
    const message = `${at}task names a function, so it cannot be used with a process to start`
    throw new PunctualError('invalid_field', message, { field: `${at}task` })
  }
  return {
    job: wire.job ?? NAMELESS_JOB,
    input: wire.input,
    queue: wire.queue,
    priority: wire.priority,
    runAt: wire.run_at === undefined ? undefined : parseTime(wire.run_at, `${at}run_at`),
    runsOn: wire.runs_on,
    weight: wire.weight,
    work,
    task: wire.task,
    unknownJob: wire.unknown_job,
    timeoutMs: wire.timeout === undefined ? undefined : readTimeout(wire.timeout, `${at}timeout`),
    retry: wire.retry === undefined ? undefined : readRetry(wire.retry, `${at}retry.`),
    onLost: wire.on_lost,
    secrets: wire.secrets && readSecrets(wire.secrets, `${at}secrets`, wire.env),
    concurrency: wire.concurrency && readGates(wire.concurrency, `${at}concurrency`),
    dedupeKey: wire.dedupe_key,
    idempotencyKey: wire.idempotency_key,
    after: wire.after && readAfter(wire.after, `${at}after`),
    tags: wire.tags,
  }
}

export function writeSubmission(run: Submission): WireSubmission {
  return {
    job: run.job,
    input: run.input,
    queue: run.queue,
    priority: run.priority,
    run_at: run.runAt === undefined ? undefined : formatTime(run.runAt, 'runAt'),
    runs_on: run.runsOn,
    weight: run.weight,
    task: run.task,
    unknown_job: run.unknownJob,
    timeout: writeDuration(run.timeoutMs),
    retry: run.retry === undefined ? undefined : writeRetry(run.retry),
    on_lost: run.onLost,
    secrets: run.secrets && writeSecrets(run.secrets),
    concurrency: run.concurrency,
    dedupe_key: run.dedupeKey,
    idempotency_key: run.idempotencyKey,
    after: run.after,
    tags: run.tags,
    ...(run.work && writeWork(run.work)),
  }
}

function writeWork(work: Work): WorkInput {
  if (work.executor === 'http') return { http: writeHttp(work) }
  const { executor: _, kill_grace_ms: graceMs, limits, ...same } = work
  const started = { kill_grace: writeDuration(graceMs), limits: writeLimits(limits) }
  if (!('image' in same)) return { ...same, ...started }
  const { env, stdin, ...container } = same
  return { container, env, stdin, ...started }
}

/** Two limits for one key are rejected: it would be undefined which one applies. */
function readGates(gates: Gates, field: string): Gates {
  for (const [index, { key }] of gates.entries()) {
    if (gates.findIndex((gate) => gate.key === key) === index) continue
    const at = `${field}.${index}.key`
    throw new PunctualError('invalid_field', `${at} is given twice`, { field: at })
  }
  return gates
}

function readAfter(after: NonNullable<Submission['after']>, field: string) {
  for (const [index, { run }] of after.entries()) {
    requirePublicId('run', run, `${field}.${index}.run`)
  }
  return after
}

/** A timeout of zero would end every attempt at its start, so it is rejected as a mistake. */
export function readTimeout(text: string, field: string): number {
  const ms = parseDuration(text, field)
  if (ms >= 1) return ms
  throw new PunctualError('invalid_field', `${field} must be at least 1ms`, { field })
}

export interface WireRun {
  readonly id: string
  readonly job: string
  readonly project: string
  readonly queue: string
  readonly version: number | null
  readonly state: RunView['state']
  readonly cancelling: boolean
  readonly priority: number
  readonly attempt: number
  readonly lost: number
  readonly cause: RunView['cause']
  readonly message: string | null
  readonly worker: string | null
  readonly process: RunView['process']
  readonly progress: WireProgress | null
  readonly created_at: string
  readonly created_by: string
  readonly due_at: string | null
  readonly started_at: string | null
  readonly finished_at: string | null
  readonly retry_of: string | null
  readonly tags: RunView['tags']
  readonly work: RunView['work']
  readonly secrets: RunView['secrets']
  readonly input: unknown
  readonly result: unknown
  readonly input_bytes: number | null
  readonly result_bytes: number | null
  readonly workflow?: RunView['workflow']
  readonly step?: RunView['step']
  readonly trigger?: RunView['trigger']
}

export interface WireProgress extends Progress {
  readonly at: string
}

export function writeProgress(progress: RunProgress): WireProgress {
  return { ...progress, at: formatTime(progress.at, 'progress.at') }
}

export function writeRun(run: RunView): WireRun {
  const { createdAt, createdBy, dueAt, startedAt, finishedAt, ...rest } = run
  const { retryOf, inputBytes, resultBytes, ...same } = rest
  return {
    ...same,
    progress: run.progress && writeProgress(run.progress),
    created_at: formatTime(createdAt, 'created_at'),
    created_by: createdBy,
    due_at: dueAt === null ? null : formatTime(dueAt, 'due_at'),
    started_at: startedAt === null ? null : formatTime(startedAt, 'started_at'),
    finished_at: finishedAt === null ? null : formatTime(finishedAt, 'finished_at'),
    retry_of: retryOf,
    input_bytes: inputBytes,
    result_bytes: resultBytes,
  }
}

export function readRun(wire: WireRun): RunView {
  const { created_at, created_by, due_at, started_at, finished_at, retry_of, ...rest } = wire
  const { input_bytes, result_bytes, progress, ...same } = rest
  return {
    ...same,
    progress: progress ? { ...progress, at: Date.parse(progress.at) } : null,
    createdAt: Date.parse(created_at),
    createdBy: created_by,
    dueAt: due_at === null ? null : Date.parse(due_at),
    startedAt: started_at === null ? null : Date.parse(started_at),
    finishedAt: finished_at === null ? null : Date.parse(finished_at),
    retryOf: retry_of,
    inputBytes: input_bytes,
    resultBytes: result_bytes,
  }
}

export type WireRunPage = WirePage<WireRun>

export function readRunPage(wire: WireRunPage): RunPage {
  return { runs: wire.data.map(readRun), next: wire.next_cursor }
}

export function writeRunPage(page: RunPage): WireRunPage {
  return { data: page.runs.map(writeRun), next_cursor: page.next }
}

/** An error in the API: RFC 9457, with the code for programs and the hint for users. */
/** One run of a batch: stored, or rejected while the others were stored. */
export type WireOutcome = SubmitAnswer | { readonly error: WireProblem }

export interface WireProblem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly hint: string
  readonly field?: string
  readonly request_id: string
}
