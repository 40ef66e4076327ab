import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorCode, PunctualError } from '../../../core/errors.ts'
import type { WireProblem } from '../../../core/wire/runs.ts'
import { StoreError } from '../../../store/port.ts'
import { storeProblem } from '../../health/store-problem.ts'

export const PROBLEM_TYPE = 'application/problem+json'
/** Long enough for a backlog to shrink, short enough to be worth waiting. */
const RETRY_AFTER_S = 1

/** Sends an error as a problem document; no error leaves this server in another way. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = asPunctualError(error, request)
  if (isWorthLogging(known)) logFailure(known, error, request)
  void reply.header('x-request-id', request.id)
  const retryAfterS = known.retryAfterS ?? (known.status === 503 ? RETRY_AFTER_S : undefined)
  if (retryAfterS !== undefined && !reply.hasHeader('retry-after'))
    void reply.header('retry-after', retryAfterS)
  void reply
    .code(known.status)
    .header('content-type', PROBLEM_TYPE)
    .send(JSON.stringify(problemOf(known, request.id)))
}

/** These mean that the server is busy or about to stop; nothing failed. */
const ORDINARY: ReadonlySet<ErrorCode> = new Set([
  'overloaded',
  'node_stopping',
  'node_cannot_renew',
])

function isWorthLogging({ status, code }: PunctualError): boolean {
  return status >= 500 && !ORDINARY.has(code)
}

/** Logs the path as declared: the actual URL may contain private data. */
function logFailure(known: PunctualError, error: unknown, request: FastifyRequest): void {
  const { id: request_id, method } = request
  const { status, code } = known
  const fields = { request_id, method, route: request.routeOptions.url, status, code }
  if (status === 500) request.log.error({ err: error, fields }, 'a request failed')
  else request.log.warn({ err: error, fields }, 'a request was refused')
}

export function problemOf(error: PunctualError, requestId: string): WireProblem {
  const { code, status, hint, field } = error
  return {
    type: `/errors/${code}`,
    title: titleOf(code),
    status,
    code,
    // Internal details stay inside; the request id finds them in the log.
    detail:
      code === 'internal' ? 'the server failed to handle this request' : cut(error.message, 600),
    hint,
    ...(field === undefined ? {} : { field: cut(field, 300) }),
    request_id: requestId,
  }
}

/** Messages and paths quote the request, which may be a megabyte. */
function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text
}

/** `run_not_found` as readable words. */
function titleOf(code: string): string {
  return code.charAt(0).toUpperCase() + code.slice(1).replaceAll('_', ' ')
}

function asPunctualError(error: unknown, request: FastifyRequest): PunctualError {
  if (error instanceof PunctualError) return error
  const known = storeProblem(error)
  if (known) return known
  if (error instanceof StoreError && error.outcome !== 'refused') {
    return new PunctualError('store_unavailable', 'the database does not answer', { cause: error })
  }
  const { code, statusCode = 500 } = error as { code?: unknown; statusCode?: number }
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE': {
      const { bodyLimit } = request.routeOptions
      return new PunctualError('body_too_large', `the body is larger than ${bodyLimit} bytes`)
    }
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new PunctualError('unsupported_media_type', 'the body is not application/json')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new PunctualError('invalid_request', 'the body is not as long as Content-Length says')
    case 'FST_ERR_BAD_URL':
      return new PunctualError('invalid_request', 'the path is not a valid URL')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new PunctualError('uri_too_long', 'a part of the path is too long')
    default:
      if (statusCode >= 500) return new PunctualError('internal', 'unexpected', { cause: error })
      return new PunctualError('invalid_request', 'the request could not be read', { cause: error })
  }
}
