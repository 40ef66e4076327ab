import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { parseDuration } from '../../../core/text/duration.ts'
import { PunctualError } from '../../../core/errors.ts'
import { requirePublicId } from '../../../core/ids.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { RequestedBy } from '../../identity/requested-by.ts'
import { projectOf } from './access.ts'
import { fields, name } from '../../../core/schema/fields.ts'

/** Shared by routes: the caller, the requested object, and the page. */

export const NamePathSchema = fields({ name: name() })
export const IdPathSchema = fields({ id: Type.String() })

// A URL has only text; `readCountParameter` converts numbers.
export const limitParameter = Type.Optional(
  Type.String({
    pattern: '^[0-9]{1,4}$',
    description: `a whole number, 1 to ${LIMITS.pageSize}`,
  }),
)
export const cursorParameter = Type.Optional(
  Type.String({ description: 'the next_cursor of an earlier page, given once' }),
)
export const PagingSchema = fields({ limit: limitParameter, cursor: cursorParameter })
export const flagParameter = Type.Optional(
  Type.Unsafe<'true' | 'false'>({ enum: ['true', 'false'], description: 'true or false' }),
)

export function requestedByOf(request: FastifyRequest): RequestedBy {
  const { tokenId } = request.caller
  return { project: projectOf(request), actor: tokenId, request: request.id, address: request.ip }
}

/** Only tokens of the installation see beyond one project. */
export function seesEverything(request: FastifyRequest, asked: string | undefined): boolean {
  if (asked !== 'true') return false
  if (request.caller.project === null) return true
  throw new PunctualError('forbidden', 'this token belongs to one project')
}

export function readPaging({ limit, cursor }: { limit?: string; cursor?: string }) {
  if (cursor !== undefined && !CURSOR.test(cursor)) {
    const message = 'the cursor was not given by this server'
    throw new PunctualError('invalid_cursor', message, { field: 'cursor' })
  }
  return { limit: readCountParameter(limit, 'limit', LIMITS.pageSize), cursor }
}

/** Checks the form of a cursor; the scheduler checks its meaning. */
const CURSOR = /^[A-Za-z0-9_-]{1,255}$/

export function readCountParameter(
  text: string | undefined,
  field: string,
  most: number,
  least = 1,
): number | undefined {
  if (text === undefined) return undefined
  const count = Number(text)
  if (Number.isInteger(count) && count >= least && count <= most) return count
  const message = `${field} must be a whole number, ${least} to ${most}`
  throw new PunctualError('invalid_field', message, { field })
}

export function readWait(text: string | undefined, mostMs: number): number | undefined {
  return text === undefined ? undefined : Math.min(parseDuration(text, 'wait'), mostMs)
}

export function readRunId(text: string): string {
  requirePublicId('run', text, 'id')
  return text
}

/**
 * `If-Match: "3"` names the version that must be current; `If-None-Match: *` requires that there is
 * none.
 */
export function expectedVersion({ headers }: FastifyRequest): number | null {
  const none = headers['if-none-match']
  if (none !== undefined && none !== '*') throw notUnderstood('If-None-Match', '*')
  const version = readVersion(headers['if-match'])
  return none === '*' ? 0 : version
}

function readVersion(match: string | undefined): number | null {
  if (match === undefined || match === '*') return null
  const version = /^"(\d{1,9})"$/.exec(match)?.[1]
  if (version !== undefined) return Number(version)
  throw notUnderstood('If-Match', 'a version in quotes, as ETag gave it')
}

function notUnderstood(header: string, expected: string): PunctualError {
  const message = `the header ${header} must be ${expected}`
  return new PunctualError('invalid_request', message, { field: header })
}

/** Aborts when the caller disconnects before it has its answer, or when the server stops. */
export function disconnectSignal(reply: FastifyReply): AbortSignal {
  const disconnected = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) disconnected.abort()
  })
  return AbortSignal.any([disconnected.signal, reply.server.closing])
}

/** Also aborts when the token of the request is no longer valid: for waits and streams. */
export function requestEndedSignal(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const refused = reply.server.tokenWatch.whenRefused(request, reply)
  return AbortSignal.any([disconnectSignal(reply), refused])
}
