import { Type } from 'typebox'
import { LIMITS } from '../../../core/limits.ts'
import { projectOf } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { fields, name } from '../../../core/schema/fields.ts'
import { limitParameter, readCount } from '../http/request.ts'

const days = Type.Optional(
  Type.String({
    pattern: '^[0-9]{1,3}$',
    description: `a whole number, 1 to ${LIMITS.forecastDays}`,
  }),
)

/** A week is what people plan for. */
const SOME_DAYS = 7
const SOME_SCHEDULES = 50

/** What is going to happen, if nobody changes anything. */
export function forecastRoutes(api: Api, { admin }: Pick<ApiOptions, 'admin'>): void {
  api.route({
    method: 'GET',
    url: '/v1/forecast',
    config: { permission: 'read', reference: { answers: { 200: 'Forecast' } } },
    schema: {
      summary: 'Look ahead',
      querystring: fields({ days, job: Type.Optional(name()), limit: limitParameter }),
    },
    handler: (request) => {
      const { job, limit } = request.query
      return admin.forecasting.forecast(projectOf(request), {
        days: readCount(request.query.days, 'days', LIMITS.forecastDays) ?? SOME_DAYS,
        job,
        limit: readCount(limit, 'limit', LIMITS.pageSize) ?? SOME_SCHEDULES,
      })
    },
  })
}
