import { ERRORS, type ErrorCode } from '../../core/errors.ts'
import type { FinishedAttempt } from '../../core/wire/protocol.ts'

/** The registration has ended, the session has not: register again under the same id. */
const REGISTER_AGAIN: ReadonlySet<ErrorCode> = new Set([
  'session_unknown',
  'session_superseded',
  'node_stopping',
  'node_cannot_renew',
  'exchange_out_of_order',
])

/** Repeating the request would get the same answer. */
const PERMANENT_REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'unauthorized',
  'forbidden',
  'host_not_allowed',
  'invalid_request',
  'invalid_field',
  'unknown_field',
  'missing_field',
])

export function mustRegisterAgain(error: unknown): boolean {
  const code = codeOf(error)
  return code !== undefined && REGISTER_AGAIN.has(code)
}

export function isSessionUnknown(error: unknown): boolean {
  return codeOf(error) === 'session_unknown'
}

export function isSuperseded(error: unknown): boolean {
  return codeOf(error) === 'session_superseded'
}

export function isPermanentRefusal(error: unknown): boolean {
  const code = codeOf(error)
  return code !== undefined && PERMANENT_REFUSALS.has(code)
}

/**
 * The report that the server will never accept as it is, if the error names one. Errors that
 * another token or server version could fix do not count.
 */
export function refusedReport(
  error: unknown,
  done: readonly FinishedAttempt[],
): FinishedAttempt | undefined {
  const code = codeOf(error)
  if (code === 'body_too_large') return done.length === 1 ? done[0] : undefined
  if (code !== 'invalid_field') return undefined
  const { field } = error as { field?: unknown }
  const [, index] = (typeof field === 'string' && REPORT.exec(field)) || []
  return index === undefined ? undefined : done[Number(index)]
}

const REPORT = /^done\.(\d+)(?:\.|$)/

/** Checks the property, not the class: the client may come from another copy of this package. */
function codeOf(error: unknown): ErrorCode | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const { code } = error
  return typeof code === 'string' && Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : undefined
}
