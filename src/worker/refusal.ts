import { ERRORS, type ErrorCode } from '../core/errors.ts'

/** The registration is over, the session is not: come back under the same id. */
const REGISTER_AGAIN: ReadonlySet<ErrorCode> = new Set([
  'session_unknown',
  'session_superseded',
  'node_stopping',
  'node_cannot_renew',
  'exchange_out_of_order',
])

/** Saying the same again would be answered the same. */
const HOPELESS: ReadonlySet<ErrorCode> = new Set([
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

export function isHopeless(error: unknown): boolean {
  const code = codeOf(error)
  return code !== undefined && HOPELESS.has(code)
}

/** By property, not by class: the client may come from another copy of this package. */
function codeOf(error: unknown): ErrorCode | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const { code } = error
  return typeof code === 'string' && Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : undefined
}
