import { Type } from 'typebox'
import { ORDERS, WHICH } from '../../../core/schedule/backfill/backfill.ts'
import { LIMITS } from '../../../core/limits.ts'
import { projectOf } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { requireNoBody } from '../http/body.ts'
import { fields, flag, oneOf, time, wholeNumber } from '../../../core/schema/fields.ts'
import { byOf, IdPath, Paging, readPaging } from '../http/request.ts'
import { SCHEDULE_URL, SchedulePath } from './schedule-routes.ts'

export const Backfill = fields({
  from: time(),
  until: Type.Optional(time()),
  order: Type.Optional(oneOf(ORDERS)),
  which: Type.Optional(oneOf(WHICH)),
  max_parallel: Type.Optional(wholeNumber(1, LIMITS.backfillRuns)),
  per_minute: Type.Optional(wholeNumber(1, LIMITS.backfillPerMinute)),
  priority: Type.Optional(wholeNumber(-LIMITS.priority, LIMITS.priority)),
  dry_run: Type.Optional(flag()),
})

/** Past times that become runs after all. */
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
    schema: { summary: 'Make up for past times', params: SchedulePath, body: Backfill },
    handler: async (request, reply) => {
      const { name: job, schedule } = request.params
      if (request.body.dry_run) {
        return backfills.plan(projectOf(request), job, schedule, request.body)
      }
      const started = await backfills.start(byOf(request), job, schedule, request.body)
      return reply.code(201).send(started)
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/backfills',
    config: { permission: 'read', reference: { answers: { 200: 'BackfillPage' } } },
    schema: { summary: 'List backfills', querystring: Paging },
    handler: (request) => backfills.list(projectOf(request), readPaging(request.query)),
  })

  api.route({
    method: 'GET',
    url: '/v1/backfills/:id',
    config: { permission: 'read', reference: { answers: { 200: 'Backfill' }, problems } },
    schema: { summary: 'Show a backfill', params: IdPath },
    handler: (request) => backfills.get(projectOf(request), request.params.id),
  })

  api.route({
    method: 'POST',
    url: '/v1/backfills/:id/cancel',
    config: { permission: 'operate', reference: { answers: { 200: 'Backfill' }, problems } },
    schema: { summary: 'Make no more runs', params: IdPath },
    handler: (request) => {
      requireNoBody(request.body)
      return backfills.cancel(byOf(request), request.params.id)
    },
  })
}
