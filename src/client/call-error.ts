import { ERRORS, PunctualError, type ErrorCode } from '../core/errors.ts'
import type { Problem } from '../core/wire/runs.ts'

/**
 * A call that did not succeed. `refused`: nothing was done. `unknown`: the server may have acted
 * before its answer was lost; repeat the call only if it carries a key that makes repeats harmless.
 */
export class CallError extends PunctualError {
  readonly outcome: 'refused' | 'unknown'
  /** How long the server asks to be left alone. */
  readonly retryAfterMs: number

  constructor(code: ErrorCode, message: string, options: CallErrorOptions) {
    super(code, message, options)
    this.name = 'CallError'
    this.outcome = options.outcome
    this.retryAfterMs = options.retryAfterMs ?? 0
  }

  /** The same failure, of a call that was tried before and may have been heard then. */
  asUnknown(): CallError {
    const { code, message, retryAfterMs } = this
    return new CallError(code, message, { outcome: 'unknown', retryAfterMs, cause: this })
  }
}

export interface CallErrorOptions extends ErrorOptions {
  outcome: CallError['outcome']
  retryAfterMs?: number
  field?: string
}

/** Codes after which part of the work may have been done: the store, or a bug, got in between. */
const MAYBE_DONE: ReadonlySet<ErrorCode> = new Set(['store_unavailable', 'internal'])

/** The server's answer, as the error it was there. */
export function errorOfAnswer(
  status: number,
  answer: unknown,
  retryAfter: string | undefined,
): CallError {
  const retryAfterMs = Number(retryAfter ?? 0) * 1_000 || 0
  if (!isProblem(answer)) {
    // Something in between answered: a proxy, or another program on that port.
    const message = `the answer was ${status}, and not from a Punctual server`
    return new CallError('server_unreachable', message, { outcome: 'unknown', retryAfterMs })
  }
  const code = codeOf(answer.code, status)
  return new CallError(code, answer.detail, {
    outcome: MAYBE_DONE.has(code) ? 'unknown' : 'refused',
    retryAfterMs,
    ...(answer.field === undefined ? {} : { field: answer.field }),
  })
}

function isProblem(answer: unknown): answer is Problem {
  const { code, detail } = (answer ?? {}) as Partial<Problem>
  return typeof code === 'string' && typeof detail === 'string'
}

/** A newer server may know codes that this client does not. */
function codeOf(code: string, status: number): ErrorCode {
  if (Object.hasOwn(ERRORS, code)) return code as ErrorCode
  return status >= 500 ? 'internal' : 'invalid_request'
}

/** Failures in which no byte of the request can have left. */
const NOT_SENT = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED'])

export function errorOfConnection(error: unknown, origin: string): CallError {
  const { code, syscall } = error as { code?: string; syscall?: string }
  const isNotSent = syscall === 'connect' || (code !== undefined && isBeforeSending(code))
  const how = isNotSent ? 'cannot be reached' : 'did not answer'
  const message = `${origin} ${how} (${code ?? (error as Error).message})`
  const outcome = isNotSent ? 'refused' : 'unknown'
  return new CallError('server_unreachable', message, { outcome, cause: error })
}

function isBeforeSending(code: string): boolean {
  return NOT_SENT.has(code) || code.startsWith('ERR_TLS_') || code.includes('CERT')
}
