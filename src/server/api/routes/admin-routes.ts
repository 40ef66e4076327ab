import { Type } from 'typebox'
import { LIMITS } from '../../../core/limits.ts'
import { ROLES } from '../../../core/permission.ts'
import { readRate } from '../../../core/queue/rate.ts'
import { parseTime, readTimeout } from '../../../core/wire/runs.ts'
import { projectOf } from '../http/access.ts'
import type { Administration } from '../../admin/administration.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { requireNoBody } from '../http/body.ts'
import {
  duration,
  fields,
  booleanField,
  name,
  oneOf,
  time,
  wholeNumber,
} from '../../../core/schema/fields.ts'
import {
  requestedByOf,
  flagParameter,
  IdPathSchema,
  NamePathSchema,
  PagingSchema,
  readPaging,
  seesEverything,
} from '../http/request.ts'

const durationOrNone = () =>
  Type.Union([duration(), Type.Null()], { description: 'a duration such as 15m, or null' })

export const QueueRateSchema = fields({
  limit: wholeNumber(1, LIMITS.rateLimit),
  per: duration(),
  burst: Type.Optional(wholeNumber(1, LIMITS.rateLimit)),
})
export const QueueChangeSchema = fields({
  paused: Type.Optional(booleanField()),
  default_timeout: Type.Optional(durationOrNone()),
  max_timeout: Type.Optional(durationOrNone()),
  rate: Type.Optional(
    Type.Union([QueueRateSchema, Type.Null()], {
      description: 'a rate such as {"limit": 100, "per": "1m"}, or null',
    }),
  ),
})
export const AllQueuesSchema = fields({ paused: booleanField() })
export const NewTokenSchema = fields({
  name: name(),
  role: oneOf(ROLES),
  expires_at: Type.Optional(time()),
  everywhere: Type.Optional(booleanField()),
})
const Everywhere = fields({ everywhere: flagParameter })
const AuditParameters = fields({ ...PagingSchema.properties, everywhere: flagParameter })

export function adminRoutes(api: Api, { admin }: Pick<ApiOptions, 'admin'>): void {
  workerAndQueueRoutes(api, admin)
  tokenRoutes(api, admin)
  auditRoutes(api, admin)
  storageRoutes(api, admin)
}

function workerAndQueueRoutes(api: Api, { workers, queues }: Administration): void {
  api.route({
    method: 'GET',
    url: '/v1/workers',
    config: { list: true, permission: 'read', reference: { answers: { 200: 'WorkerList' } } },
    schema: { summary: 'List workers' },
    handler: async (request) => ({ data: await workers.list(projectOf(request)) }),
  })

  api.route({
    method: 'GET',
    url: '/v1/queues',
    config: { list: true, permission: 'read', reference: { answers: { 200: 'QueueList' } } },
    schema: { summary: 'List queues' },
    handler: async (request) => ({ data: await queues.list(projectOf(request)) }),
  })

  api.route({
    method: 'PATCH',
    url: '/v1/queues/:name',
    config: { permission: 'operate', reference: { answers: { 200: 'Queue' } } },
    schema: {
      summary: 'Pause a queue, or set its timeouts and its rate',
      params: NamePathSchema,
      body: QueueChangeSchema,
    },
    handler: (request) => {
      const { paused, default_timeout, max_timeout, rate } = request.body
      return queues.change(requestedByOf(request), request.params.name, {
        paused,
        defaultTimeoutMs: timeoutOrNone(default_timeout, 'default_timeout'),
        maxTimeoutMs: timeoutOrNone(max_timeout, 'max_timeout'),
        rate: rate ? readRate(rate) : rate,
      })
    },
  })

  api.route({
    method: 'PATCH',
    url: '/v1/queues',
    config: { permission: 'operate', reference: { answers: { 204: null } } },
    schema: { summary: 'Pause or resume all queues of the project', body: AllQueuesSchema },
    handler: async (request, reply) => {
      await queues.pauseAll(requestedByOf(request), request.body.paused)
      return reply.code(204).send()
    },
  })
}

function tokenRoutes(api: Api, { tokens }: Administration): void {
  api.route({
    method: 'GET',
    url: '/v1/tokens',
    config: { permission: 'administer', reference: { answers: { 200: 'TokenList' } } },
    schema: { summary: 'List tokens', querystring: Everywhere },
    handler: async (request) => {
      const everywhere = seesEverything(request, request.query.everywhere)
      return { data: await tokens.list(projectOf(request), everywhere) }
    },
  })

  api.route({
    method: 'POST',
    url: '/v1/tokens',
    config: { permission: 'administer', reference: { answers: { 201: 'CreatedToken' } } },
    schema: { summary: 'Create a token', body: NewTokenSchema },
    handler: async (request, reply) => {
      const { name: called, role, expires_at, everywhere = false } = request.body
      const token = await tokens.create(requestedByOf(request), {
        name: called,
        role,
        expiresAt: expires_at === undefined ? null : parseTime(expires_at, 'expires_at'),
        everywhere: seesEverything(request, String(everywhere)),
      })
      return reply.code(201).send(token)
    },
  })

  api.route({
    method: 'DELETE',
    url: '/v1/tokens/:id',
    config: {
      permission: 'administer',
      reference: { answers: { 204: null }, problems: ['token_not_found'] },
    },
    schema: { summary: 'Revoke a token', params: IdPathSchema },
    handler: async (request, reply) => {
      requireNoBody(request.body)
      const everywhere = request.caller.project === null
      await tokens.revoke(requestedByOf(request), request.params.id, everywhere)
      return reply.code(204).send()
    },
  })
}

function auditRoutes(api: Api, { audit }: Administration): void {
  api.route({
    method: 'GET',
    url: '/v1/audit',
    config: { list: true, permission: 'administer', reference: { answers: { 200: 'AuditPage' } } },
    schema: { summary: 'Read the audit log, newest first', querystring: AuditParameters },
    handler: (request) => {
      const everywhere = seesEverything(request, request.query.everywhere)
      return audit.list(projectOf(request), everywhere, readPaging(request.query))
    },
  })
}

function storageRoutes(api: Api, { storage }: Administration): void {
  api.route({
    method: 'GET',
    url: '/v1/storage',
    config: { permission: 'read', everywhere: true, reference: { answers: { 200: 'Storage' } } },
    schema: { summary: 'Show where data is stored, and whether it is writable' },
    handler: () => storage.show(),
  })
}

function timeoutOrNone(text: string | null | undefined, field: string): number | null | undefined {
  return typeof text === 'string' ? readTimeout(text, field) : text
}
