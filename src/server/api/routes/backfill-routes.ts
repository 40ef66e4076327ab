import { Type } from 'typebox'
import { BACKFILL_ORDERS, BACKFILL_SELECTIONS } from '../../../core/schedule/backfill/backfill.ts'
import { LIMITS } from '../../../core/limits.ts'
import { projectOf } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { requireNoBody } from '../http/body.ts'
import { fields, booleanField, oneOf, time, wholeNumber } from '../../../core/schema/fields.ts'
import { requestedByOf, IdPathSchema, PagingSchema, readPaging } from '../http/request.ts'
import { SCHEDULE_URL, SchedulePathSchema } from './schedule-routes.ts'

export const BackfillSchema = fields({
  from: time(),
  until: Type.Optional(time()),
  order: Type.Optional(oneOf(BACKFILL_ORDERS)),
  which: Type.Optional(oneOf(BACKFILL_SELECTIONS)),
  max_parallel: Type.Optional(wholeNumber(1, LIMITS.backfillRuns)),
  per_minute: Type.Optional(wholeNumber(1, LIMITS.backfillPerMinute)),
  priority: Type.Optional(wholeNumber(-LIMITS.priority, LIMITS.priority)),
  dry_run: Type.Optional(booleanField()),
})

/** Backfills: runs for past times of schedules. */
export function backfillRoutes(api: Api, { admin }: Pick<ApiOptions, 'admin'>): void {
  const { backfills } = admin
  const problems = ['backfill_not_found'] as const

  api.route({
    method: 'POST',
    url: `${SCHEDULE_URL}/backfill`,
    config: {
      permission: 'operate',
      reference: {
        answers: { 201: 'Backfill', 200: 'BackfillPlan' },
        problems: ['schedule_not_found', 'invalid_schedule'],
      },
    },
    schema: { summary: 'Start a backfill', params: SchedulePathSchema, body: BackfillSchema },
    handler: async (request, reply) => {
      const { name: job, schedule } = request.params
      if (request.body.dry_run) {
        return backfills.plan(projectOf(request), job, schedule, request.body)
      }
      const started = await backfills.start(requestedByOf(request), job, schedule, request.body)
      return reply.code(201).send(started)
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/backfills',
    config: { list: true, permission: 'read', reference: { answers: { 200: 'BackfillPage' } } },
    schema: { summary: 'List backfills', querystring: PagingSchema },
    handler: (request) => backfills.list(projectOf(request), readPaging(request.query)),
  })

  api.route({
    method: 'GET',
    url: '/v1/backfills/:id',
    config: { permission: 'read', reference: { answers: { 200: 'Backfill' }, problems } },
    schema: { summary: 'Show a backfill', params: IdPathSchema },
    handler: (request) => backfills.get(projectOf(request), request.params.id),
  })

  api.route({
    method: 'POST',
    url: '/v1/backfills/:id/cancel',
    config: { permission: 'operate', reference: { answers: { 200: 'Backfill' }, problems } },
    schema: { summary: 'Cancel a backfill', params: IdPathSchema },
    handler: (request) => {
      requireNoBody(request.body)
      return backfills.cancel(requestedByOf(request), request.params.id)
    },
  })
}
