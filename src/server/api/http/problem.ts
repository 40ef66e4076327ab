import type { FastifyReply, FastifyRequest } from 'fastify'
import { PunctualError } from '../../../core/errors.ts'
import type { Problem } from '../../../core/wire/runs.ts'
import { StoreError } from '../../../store/port.ts'

export const PROBLEM_TYPE = 'application/problem+json'
/** Long enough for a backlog to shrink, short enough to be worth waiting. */
const RETRY_AFTER_S = 1

/** The one way an error leaves this server. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = asPunctualError(error, request)
  if (known.code === 'internal') request.log.error({ err: error }, 'a request failed unexpectedly')
  if (known.status === 503) void reply.header('retry-after', RETRY_AFTER_S)
  void reply
    .code(known.status)
    .header('content-type', PROBLEM_TYPE)
    .send(JSON.stringify(problemOf(known, request.id)))
}

export function problemOf(error: PunctualError, requestId: string): Problem {
  const { code, status, hint, field } = error
  return {
    type: `/errors/${code}`,
    title: titleOf(code),
    status,
    code,
    // What went wrong inside stays inside; the id finds it in the log.
    detail:
      code === 'internal' ? 'the server failed to handle this request' : cut(error.message, 600),
    hint,
    ...(field === undefined ? {} : { field: cut(field, 300) }),
    request_id: requestId,
  }
}

/** Messages and paths quote what was sent, and that may be a megabyte. */
function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text
}

/** `run_not_found` as a person would say it. */
function titleOf(code: string): string {
  return code.charAt(0).toUpperCase() + code.slice(1).replaceAll('_', ' ')
}

function asPunctualError(error: unknown, request: FastifyRequest): PunctualError {
  if (error instanceof PunctualError) return error
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
