import { parseDuration, writeDuration } from '../text/duration.ts'
import { PunctualError } from '../errors.ts'
import { writeHttp } from '../work/http-work.ts'
import { requirePublicId } from '../ids.ts'
import type { Progress } from '../text/markers.ts'
import type {
  Assignment,
  Exchange,
  ExchangeAnswer,
  RunPage,
  RunProgress,
  RunView,
  Submission,
  SubmitAnswer,
  Welcome,
} from './protocol.ts'
import { readRetry, type WireRetry, writeRetry } from './retry.ts'
import { type GivenSecret, readSecrets, type SecretInput, writeSecrets } from '../work/secret.ts'
import type { WirePage } from './views.ts'
import { writeLimits } from '../work/work-limits.ts'
import { formatTime, parseTime } from '../text/time-text.ts'
import { readWork, type Work, type WorkInput } from '../work/work.ts'

export { formatTime, parseTime }

/**
 * The protocol as JSON: snake_case names, times as RFC 3339 text, durations as `15m`, and plain
 * milliseconds only where a name ends in `_ms`. Server and client translate here and nowhere else.
 * Messages whose names read the same on both sides (hello, heartbeat, done) travel as they are.
 */
export interface WireSubmission extends WorkInput {
  /** Needed unless the run brings its own work. */
  readonly job?: string | undefined
  readonly input?: unknown
  readonly queue?: string | undefined
  readonly priority?: number | undefined
  readonly run_at?: string | undefined
  readonly runs_on?: Submission['runsOn']
  readonly weight?: number | undefined
  readonly task?: string | undefined
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

/** What a run without a job is called. */
export const NAMELESS_JOB = 'adhoc'

/** One shape for every submission, whatever it leaves out: thousands pass through at once. */
export function readSubmission(wire: WireSubmission, at = ''): Submission {
  const work = readWork(wire, at)
  if (wire.job === undefined && !work) {
    const message = `${at}job is missing: name a job, or give run, argv, script, http or container`
    throw new PunctualError('missing_field', message, { field: `${at}job` })
  }
  if (work && wire.task !== undefined) {
    const message = `${at}task names a function, so it cannot stand beside a process to start`
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

/** One key with two limits would follow whichever was read last. */
function readGates(gates: Gates, field: string): Gates {
  for (const [index, { key }] of gates.entries()) {
    if (gates.findIndex((gate) => gate.key === key) === index) continue
    const at = `${field}.${index}.key`
    throw new PunctualError('invalid_field', `${at} stands there twice`, { field: at })
  }
  return gates
}

function readAfter(after: NonNullable<Submission['after']>, field: string) {
  for (const [index, { run }] of after.entries()) {
    requirePublicId('run', run, `${field}.${index}.run`)
  }
  return after
}

/** A timeout of nothing would end every attempt at its start: surely not what was meant. */
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
  const { createdAt, dueAt, startedAt, finishedAt, retryOf, inputBytes, resultBytes, ...same } = run
  return {
    ...same,
    progress: run.progress && writeProgress(run.progress),
    created_at: formatTime(createdAt, 'created_at'),
    due_at: dueAt === null ? null : formatTime(dueAt, 'due_at'),
    started_at: startedAt === null ? null : formatTime(startedAt, 'started_at'),
    finished_at: finishedAt === null ? null : formatTime(finishedAt, 'finished_at'),
    retry_of: retryOf,
    input_bytes: inputBytes,
    result_bytes: resultBytes,
  }
}

export function readRun(wire: WireRun): RunView {
  const { created_at, due_at, started_at, finished_at, retry_of, ...rest } = wire
  const { input_bytes, result_bytes, progress, ...same } = rest
  return {
    ...same,
    progress: progress ? { ...progress, at: Date.parse(progress.at) } : null,
    createdAt: Date.parse(created_at),
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

export interface WireWelcome {
  readonly session: string
  readonly lease_ttl_ms: number
  readonly heartbeat_ms: number
  readonly lost: readonly string[]
}

export function writeWelcome(welcome: Welcome): WireWelcome {
  const { session, leaseTtlMs, heartbeatMs, lost } = welcome
  return { session, lease_ttl_ms: leaseTtlMs, heartbeat_ms: heartbeatMs, lost }
}

export function readWelcome(wire: WireWelcome): Welcome {
  const { session, lease_ttl_ms, heartbeat_ms, lost } = wire
  return { session, leaseTtlMs: lease_ttl_ms, heartbeatMs: heartbeat_ms, lost }
}

export interface WireExchange extends Omit<Exchange, 'waitMs'> {
  readonly wait_ms: number
}

export function readExchange(wire: WireExchange): Exchange {
  const { registration, number, answered, done, free, wait_ms } = wire
  return { registration, number, answered, done, free, waitMs: wait_ms }
}

export function writeExchange(message: Exchange): WireExchange {
  const { registration, number, answered, done, free, waitMs } = message
  return { registration, number, answered, done, free, wait_ms: waitMs }
}

export interface WireExchangeAnswer extends Omit<ExchangeAnswer, 'runs'> {
  readonly runs: readonly WireAssignment[]
}

/** Read by workers only, thousands a second: its time stays a number, and what is usual is left out. */
export interface WireAssignment extends Pick<Assignment, 'run' | 'fence' | 'job' | 'project'> {
  readonly due_at_ms: number
  /** 1 unless stated. */
  readonly attempt?: number
  readonly weight?: number
  /** None unless stated. */
  readonly timeout_ms?: number
  readonly work?: Work
  readonly task?: string
  readonly input?: string
  readonly secrets?: readonly GivenSecret[]
}

export function writeExchangeAnswer(answer: ExchangeAnswer): WireExchangeAnswer {
  const { number, verdicts, runs } = answer
  return { number, verdicts, runs: runs.map(writeAssignment) }
}

export function readExchangeAnswer(wire: WireExchangeAnswer): ExchangeAnswer {
  const { number, verdicts, runs } = wire
  return { number, verdicts, runs: runs.map(readAssignment) }
}

function writeAssignment(assigned: Assignment): WireAssignment {
  const { run, fence, job, project, attempt, weight, timeoutMs, dueAt } = assigned
  const { work, task, input, secrets } = assigned
  // `undefined` is left out by JSON; an object of one shape is quicker to make than one of sixteen.
  return {
    run,
    fence,
    job,
    project,
    due_at_ms: dueAt,
    attempt: attempt === 1 ? undefined : attempt,
    weight: weight === 1 ? undefined : weight,
    timeout_ms: timeoutMs ?? undefined,
    work: work ?? undefined,
    task: task ?? undefined,
    input: input ?? undefined,
    secrets,
  } as WireAssignment
}

function readAssignment(wire: WireAssignment): Assignment {
  const { run, fence, job, project, attempt = 1, weight = 1, timeout_ms, due_at_ms } = wire
  const { work, task, input, secrets } = wire
  return {
    run,
    fence,
    job,
    project,
    attempt,
    weight,
    timeoutMs: timeout_ms ?? null,
    dueAt: due_at_ms,
    work: work ?? null,
    task: task ?? null,
    input: input ?? null,
    ...(secrets && { secrets }),
  }
}

/** An error as it travels: RFC 9457, plus the code that programs read and the hint for people. */
/** One run of a batch: stored, or refused while the others were stored. */
export type WireOutcome = SubmitAnswer | { readonly error: Problem }

export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly hint: string
  readonly field?: string
  readonly request_id: string
}
