import { LIMITS } from '../../core/limits.ts'
import type { Assignment, Done, Held } from '../../core/wire/protocol.ts'
import { refuseResult } from '../../core/run/result.ts'
import type { StopCause } from './handler.ts'
import { BLIND, type Masker } from '../output/masking/masker.ts'

/** How a handler came to its end, or failed to. */
export type Settled =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  /** The handler was never called. */
  | { readonly kind: 'unstartable'; readonly message: string }
  /** It was told to stop and the grace is over. */
  | { readonly kind: 'ignored' }
  /** A process ended by itself, or by a signal. */
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  /** It was killed because it took more than it may. */
  | { readonly kind: 'overran'; readonly cause: 'oom' | 'error'; readonly message: string }
  /** It ended, and whoever ran it knows why that is a failure. */
  | {
      readonly kind: 'failed'
      readonly cause: 'error' | 'timeout' | 'oom' | 'start_error'
      readonly message: string
      readonly retriable?: boolean
    }
  /** It ended well and left something that cannot be used. */
  | { readonly kind: 'broken'; readonly message: string }
  /** It was told to stop before it had begun. */
  | { readonly kind: 'unstarted' }

type Reported = Pick<Assignment, 'run' | 'fence' | 'timeoutMs'>

/** What to report for an attempt, without its secrets; nothing when it is no longer ours to report. */
export function outcomeOf(
  assignment: Reported,
  stopped: StopCause | undefined,
  settled: Settled,
  { masker = BLIND, said }: { masker?: Masker; said?: string | undefined } = {},
): Done | undefined {
  const done = judge(assignment, stopped, settled, said)
  if (done?.message === undefined && (done?.result === undefined || masker === BLIND)) return done
  const { message, result } = done
  return {
    ...done,
    // Masked first and cut then: half a secret would not be recognised.
    ...(message !== undefined && { message: capMessage(masker.text(message)) }),
    ...(result !== undefined && { result: masker.result(result) }),
  }
}

/**
 * Success wins over a stop that came too late, except over a timeout: a result that took too long is
 * not one.
 */
function judge(
  { run, fence, timeoutMs }: Reported,
  stopped: StopCause | undefined,
  settled: Settled,
  /** What the process itself says went wrong. */
  said: string | undefined,
): Done | undefined {
  const because = said === undefined ? '' : `: ${said}`
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
      return stoppedOr(held, stopped, givenBack(held))
    case 'threw':
    case 'ignored':
      return stoppedOr(held, stopped, threw(held, settled))
  }
}

/** What failed after it was told to stop has done as it was told. */
function stoppedOr(held: Held, stopped: StopCause | undefined, otherwise: Done): Done {
  if (stopped === 'cancelled') return { ...held, outcome: 'cancelled' }
  return stopped === 'draining' ? givenBack(held) : otherwise
}

/** Handed back before it counted. */
export function givenBack({ run, fence }: Held): Done {
  return { run, fence, outcome: 'given_back' }
}

/**
 * What can still be said of an attempt whose report the server refuses; nothing if that was all there
 * is. A success whose result nobody will ever see is none.
 */
export function withoutRefused(refused: Done, why: string): Done | undefined {
  const { result, process, ...rest } = refused
  if (result === undefined && process === undefined) return undefined
  if (rest.outcome !== 'succeeded') return rest
  const { run, fence } = rest
  return fatal({ run, fence }, capMessage(`the server refused its report: ${why}`))
}

function returned(held: Held, value: unknown): Done {
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

function threw(held: Held, settled: Extract<Settled, { kind: 'threw' | 'ignored' }>): Done {
  if (settled.kind === 'ignored') return failed(held, 'error', 'the handler ignored its signal')
  const { error } = settled
  return isFinal(error) ? fatal(held, messageOf(error)) : failed(held, 'error', messageOf(error))
}

function timedOut(held: Held, timeoutMs: number | null, { kind }: Settled): Done {
  const rest = kind === 'ignored' ? ', and the handler ignored its signal' : ''
  return failed(held, 'timeout', `timed out after ${timeoutMs ?? 0} ms${rest}`)
}

function failed(held: Held, cause: NonNullable<Done['cause']>, message: string): Done {
  return { ...held, outcome: 'failed', cause, message }
}

function fatal(held: Held, message: string): Done {
  return { ...failed(held, 'error', message), retriable: false }
}

function isFinal(thrown: unknown): boolean {
  try {
    return (thrown as { retriable?: unknown } | null | undefined)?.retriable === false
  } catch {
    return false
  }
}

/** The words of anything that can be thrown, including what throws again when looked at. */
export function messageOf(thrown: unknown): string {
  try {
    const text = thrown instanceof Error ? thrown.message || thrown.name : String(thrown)
    return typeof text === 'string' ? text : String(text)
  } catch {
    return 'the handler threw something that cannot be read'
  }
}

const encoder = new TextEncoder()

/** At most `LIMITS.messageBytes` of UTF-8, cut between characters; without NUL, which PostgreSQL refuses. */
export function capMessage(message: string): string {
  const text = message.slice(0, LIMITS.messageBytes).replaceAll('\0', '\uFFFD').toWellFormed()
  const { read } = encoder.encodeInto(text, new Uint8Array(LIMITS.messageBytes))
  return text.slice(0, read)
}
