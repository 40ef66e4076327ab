import { ERRORS, type ErrorCode } from '../../core/errors.ts'
import type { Done } from '../../core/wire/protocol.ts'

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

/**
 * The report that the server will never take as it is, if it says which one. What a token or another
 * version of the server can put right is nobody's fault here.
 */
export function refusedReport(error: unknown, done: readonly Done[]): Done | undefined {
  const code = codeOf(error)
  if (code === 'body_too_large') return done.length === 1 ? done[0] : undefined
  if (code !== 'invalid_field') return undefined
  const { field } = error as { field?: unknown }
  const [, index] = (typeof field === 'string' && REPORT.exec(field)) || []
  return index === undefined ? undefined : done[Number(index)]
}

const REPORT = /^done\.(\d+)(?:\.|$)/

/** By property, not by class: the client may come from another copy of this package. */
function codeOf(error: unknown): ErrorCode | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const { code } = error
  return typeof code === 'string' && Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : undefined
}
