import type { Assignment, FinishedAttempt, LeasedAttempt } from '../../core/wire/protocol.ts'
import { refuseResult } from '../../core/run/result.ts'
import type { StopCause } from './handler.ts'
import { capMessage } from '../output/cap-message.ts'
import { NO_MASKING, type Masker } from '../output/masking/masker.ts'

/** How a handler or process ended, or failed to end. */
export type Settled =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  /** The handler was never called. */
  | { readonly kind: 'unstartable'; readonly message: string }
  /** It was asked to stop and the grace has expired. */
  | { readonly kind: 'ignored' }
  /** A process exited, or was ended by a signal. */
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  /** It was killed because it exceeded a limit. */
  | { readonly kind: 'overran'; readonly cause: 'oom' | 'error'; readonly message: string }
  /** It ended, and its executor gives the reason why that is a failure. */
  | {
      readonly kind: 'failed'
      readonly cause: 'error' | 'timeout' | 'oom' | 'start_error'
      readonly message: string
      readonly retriable?: boolean
    }
  /** It ended with success and left an unusable result. */
  | { readonly kind: 'broken'; readonly message: string }
  /** It was asked to stop before it had started. */
  | { readonly kind: 'unstarted' }

type Reported = Pick<Assignment, 'run' | 'fence' | 'timeoutMs'>

/**
 * The report for an attempt, masked; undefined when the attempt no longer belongs to this worker.
 */
export function outcomeOf(
  assignment: Reported,
  stopped: StopCause | undefined,
  settled: Settled,
  {
    masker = NO_MASKING,
    reportedError,
  }: { masker?: Masker; reportedError?: string | undefined } = {},
): FinishedAttempt | undefined {
  const done = decideOutcome(assignment, stopped, settled, reportedError)
  if (done?.message === undefined && (done?.result === undefined || masker === NO_MASKING))
    return done
  const { message, result } = done
  return {
    ...done,
    // Mask before cutting: half a secret would not be recognised.
    ...(message !== undefined && { message: capMessage(masker.text(message)) }),
    ...(result !== undefined && { result: masker.result(result) }),
  }
}

/**
 * Success wins over a stop that comes too late, except over a timeout: a result that took too long
 * does not count.
 */
function decideOutcome(
  { run, fence, timeoutMs }: Reported,
  stopped: StopCause | undefined,
  settled: Settled,
  /** The error that the process itself reported. */
  reportedError: string | undefined,
): FinishedAttempt | undefined {
  const because = reportedError === undefined ? '' : `: ${reportedError}`
  const held = { run, fence }
  if (stopped === 'lease_lost') return undefined
  if (stopped === 'timeout') return timedOut(held, timeoutMs, settled)
  switch (settled.kind) {
    case 'returned':
      return returned(held, settled.value)
    case 'unstartable':
      return failed(held, 'start_error', settled.message)
    case 'exited':
      if (settled.code === 0) return { ...held, outcome: 'succeeded' }
      return stoppedOr(
        held,
        stopped,
        failed(held, 'exit', `exited with code ${settled.code}${because}`),
      )
    case 'signalled':
      return stoppedOr(
        held,
        stopped,
        failed(held, 'signal', `killed by ${settled.signal}${because}`),
      )
    case 'overran':
      return stoppedOr(held, stopped, failed(held, settled.cause, settled.message))
    case 'failed':
      return stoppedOr(held, stopped, {
        ...failed(held, settled.cause, settled.message),
        ...(settled.retriable === false ? { retriable: false } : {}),
      })
    case 'broken':
      return fatal(held, settled.message)
    case 'unstarted':
      return stoppedOr(held, stopped, givenBackReport(held))
    case 'threw':
    case 'ignored':
      return stoppedOr(held, stopped, threw(held, settled))
  }
}

/** An attempt that failed after it was asked to stop counts as stopped. */
function stoppedOr(
  held: LeasedAttempt,
  stopped: StopCause | undefined,
  otherwise: FinishedAttempt,
): FinishedAttempt {
  if (stopped === 'cancelled') return { ...held, outcome: 'cancelled' }
  return stopped === 'draining' ? givenBackReport(held) : otherwise
}

/** The report of an attempt that is given back without being counted. */
export function givenBackReport({ run, fence }: LeasedAttempt): FinishedAttempt {
  return { run, fence, outcome: 'given_back' }
}

/**
 * The report that replaces one the server refuses; undefined if nothing can be left out. A success
 * whose result cannot be stored becomes a failure.
 */
export function withoutRefused(refused: FinishedAttempt, why: string): FinishedAttempt | undefined {
  const { result, process, ...rest } = refused
  if (result === undefined && process === undefined) return undefined
  if (rest.outcome !== 'succeeded') return rest
  const { run, fence } = rest
  return fatal({ run, fence }, capMessage(`the server refused its report: ${why}`))
}

function returned(held: LeasedAttempt, value: unknown): FinishedAttempt {
  let result: string | undefined
  try {
    result = JSON.stringify(value)
  } catch (error) {
    return fatal(held, `the result is not JSON: ${messageOf(error)}`)
  }
  if (result === undefined) return { ...held, outcome: 'succeeded' }
  const refused = refuseResult(result)
  if (refused === undefined) return { ...held, outcome: 'succeeded', result }
  return fatal(held, `the result ${refused}`)
}

function threw(
  held: LeasedAttempt,
  settled: Extract<Settled, { kind: 'threw' | 'ignored' }>,
): FinishedAttempt {
  if (settled.kind === 'ignored') return failed(held, 'error', 'the handler ignored its signal')
  const { error } = settled
  return isFinal(error) ? fatal(held, messageOf(error)) : failed(held, 'error', messageOf(error))
}

function timedOut(
  held: LeasedAttempt,
  timeoutMs: number | null,
  { kind }: Settled,
): FinishedAttempt {
  const rest = kind === 'ignored' ? ', and the handler ignored its signal' : ''
  return failed(held, 'timeout', `timed out after ${timeoutMs ?? 0} ms${rest}`)
}

function failed(
  held: LeasedAttempt,
  cause: NonNullable<FinishedAttempt['cause']>,
  message: string,
): FinishedAttempt {
  return { ...held, outcome: 'failed', cause, message }
}

function fatal(held: LeasedAttempt, message: string): FinishedAttempt {
  return { ...failed(held, 'error', message), retriable: false }
}

function isFinal(thrown: unknown): boolean {
  try {
    return (thrown as { retriable?: unknown } | null | undefined)?.retriable === false
  } catch {
    return false
  }
}

/** The message of any thrown value, including values whose properties throw. */
export function messageOf(thrown: unknown): string {
  try {
    const text = thrown instanceof Error ? thrown.message || thrown.name : String(thrown)
    return typeof text === 'string' ? text : String(text)
  } catch {
    return 'the handler threw something that cannot be read'
  }
}
