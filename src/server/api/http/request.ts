import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { parseDuration } from '../../../core/text/duration.ts'
import { PunctualError } from '../../../core/errors.ts'
import { requirePublicId } from '../../../core/ids.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { By } from '../../identity/requested-by.ts'
import { projectOf } from './access.ts'
import { fields, name } from '../../../core/schema/fields.ts'

/** What routes have in common: who asks, about what, and which page. */

export const NamePath = fields({ name: name() })
export const IdPath = fields({ id: Type.String() })

// In a URL everything is text; what is a number becomes one in `readCount`.
export const limitParameter = Type.Optional(
  Type.String({
    pattern: '^[0-9]{1,4}$',
    description: `a whole number, 1 to ${LIMITS.pageSize}`,
  }),
)
export const cursorParameter = Type.Optional(
  Type.String({ description: 'the next_cursor of an earlier page, given once' }),
)
export const Paging = fields({ limit: limitParameter, cursor: cursorParameter })
export const flagParameter = Type.Optional(
  Type.Unsafe<'true' | 'false'>({ enum: ['true', 'false'], description: 'true or false' }),
)

export function byOf(request: FastifyRequest): By {
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
  return { limit: readCount(limit, 'limit', LIMITS.pageSize), cursor }
}

/** What a cursor means is the scheduler's affair; that it could be one at all is checked here. */
const CURSOR = /^[A-Za-z0-9_-]{1,255}$/

export function readCount(
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

export function runId(text: string): string {
  requirePublicId('run', text, 'id')
  return text
}

/** `If-Match: "3"` names the version that must be in force; `If-None-Match: *` that there is none. */
export function expectedVersion({ headers }: FastifyRequest): number | null {
  const none = headers['if-none-match']
  if (none === '*') return 0
  if (none !== undefined) throw notUnderstood('If-None-Match', '*')
  const match = headers['if-match']
  if (match === undefined || match === '*') return null
  const version = /^"(\d{1,9})"$/.exec(match)?.[1]
  if (version !== undefined) return Number(version)
  throw notUnderstood('If-Match', 'a version in quotes, as ETag gave it')
}

function notUnderstood(header: string, expected: string): PunctualError {
  const message = `the header ${header} must be ${expected}`
  return new PunctualError('invalid_request', message, { field: header })
}

/** Aborts when the other side hangs up before it has its answer, or when the server stops. */
export function whenGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort()
  })
  return AbortSignal.any([gone.signal, reply.server.closing])
}
