import { ERRORS, PunctualError, type ErrorCode } from '../core/errors.ts'
import { isNotConnected } from './connection-errors.ts'
import { isProblem } from './problem.ts'

/**
 * A failed call. `refused`: nothing was done. `unknown`: the server may have acted before its
 * answer was lost; repeat the call only with an idempotency key.
 */
export class CallError extends PunctualError {
  readonly outcome: 'refused' | 'unknown'
  /** The delay that the server requests before the next try. */
  readonly retryAfterMs: number

  constructor(code: ErrorCode, message: string, options: CallErrorOptions) {
    super(code, message, options)
    this.name = 'CallError'
    this.outcome = options.outcome
    this.retryAfterMs = options.retryAfterMs ?? 0
  }

  /** The same failure of a call that was tried before, when the server may have acted. */
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

/** Codes after which the server may have acted: a store failure or a bug interrupted it. */
const MAYBE_DONE: ReadonlySet<ErrorCode> = new Set([
  'store_unavailable',
  'store_replaced',
  'internal',
])

/** Converts the server's error answer back to an error. */
export function errorOfAnswer(
  status: number,
  answer: unknown,
  retryAfter: string | undefined,
): CallError {
  const retryAfterMs = Number(retryAfter ?? 0) * 1_000 || 0
  if (!isProblem(answer)) {
    // Another program answered: a proxy, or a different server on that port.
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

/** A newer server may use codes that this client does not know. */
function codeOf(code: string, status: number): ErrorCode {
  if (Object.hasOwn(ERRORS, code)) return code as ErrorCode
  return status >= 500 ? 'internal' : 'invalid_request'
}

export function errorOfConnection(error: unknown, origin: string): CallError {
  const { code } = error as { code?: string }
  const isNotSent = isNotConnected(error) || (code !== undefined && isTlsFailure(code))
  const how = isNotSent ? 'cannot be reached' : 'did not answer'
  const message = `${origin} ${how} (${code ?? (error as Error).message})`
  const outcome = isNotSent ? 'refused' : 'unknown'
  return new CallError('server_unreachable', message, { outcome, cause: error })
}

/** TLS connects before the request is sent. */
function isTlsFailure(code: string): boolean {
  return code.startsWith('ERR_TLS_') || code.includes('CERT')
}
