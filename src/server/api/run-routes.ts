import { Type } from 'typebox'
import { PunctualError } from '../../core/errors.ts'
import { requirePublicId } from '../../core/ids.ts'
import { LIMITS } from '../../core/limits.ts'
import { STATES } from '../../core/run-state.ts'
import { writeRun, writeRunPage } from '../../core/wire.ts'
import { projectOf } from './access.ts'
import type { Api, ApiOptions } from './api.ts'
import { requireNoBody } from './body.ts'
import { fields, name, oneOf } from './fields.ts'

const RunPath = fields({ id: Type.String() })

// In a URL everything is text; what is a number becomes one in `readLimit`.
const ListParameters = fields({
  state: Type.Optional(oneOf(STATES)),
  job: Type.Optional(name()),
  limit: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,4}$',
      description: `a whole number, 1 to ${LIMITS.pageSize}`,
    }),
  ),
  cursor: Type.Optional(Type.String({ description: 'given once' })),
})

export function runRoutes(api: Api, { clientFor }: Pick<ApiOptions, 'clientFor'>): void {
  const config = { access: 'admin' } as const

  api.route({
    method: 'GET',
    url: '/v1/runs',
    config,
    schema: { querystring: ListParameters },
    handler: async (request) => {
      const { state, job, limit, cursor } = request.query
      const query = { state, job, limit: readLimit(limit), cursor: readCursor(cursor) }
      return writeRunPage(await clientFor(projectOf(request)).listRuns(query))
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/runs/:id',
    config,
    schema: { params: RunPath },
    handler: async (request) => {
      const id = runId(request.params.id)
      return writeRun(await clientFor(projectOf(request)).getRun(id))
    },
  })

  api.route({
    method: 'POST',
    url: '/v1/runs/:id/cancel',
    config,
    schema: { params: RunPath },
    handler: async (request) => {
      requireNoBody(request.body)
      return clientFor(projectOf(request)).cancel(runId(request.params.id))
    },
  })

  api.route({
    method: 'POST',
    url: '/v1/runs/:id/retry',
    config,
    schema: { params: RunPath },
    handler: async (request, reply) => {
      requireNoBody(request.body)
      const answer = await clientFor(projectOf(request)).retry(runId(request.params.id))
      return reply.code(201).send(answer)
    },
  })
}

function runId(text: string): string {
  requirePublicId('run', text, 'id')
  return text
}

function readLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const limit = Number(text)
  if (limit >= 1 && limit <= LIMITS.pageSize) return limit
  throw new PunctualError(
    'invalid_field',
    `limit must be a whole number, 1 to ${LIMITS.pageSize}`,
    {
      field: 'limit',
    },
  )
}

const CURSOR = /^[A-Za-z0-9_-]{1,255}$/

/** What a cursor means is the scheduler's affair; that it could be one at all is checked here. */
function readCursor(text: string | undefined): string | undefined {
  if (text === undefined || CURSOR.test(text)) return text
  throw new PunctualError('invalid_cursor', 'the cursor was not given by this server', {
    field: 'cursor',
  })
}
