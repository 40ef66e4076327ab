import { Type } from 'typebox'
import { LIMITS } from '../../../core/limits.ts'
import { projectOf } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { fields, name } from '../../../core/schema/fields.ts'
import { limitParameter, readCountParameter } from '../http/request.ts'

const days = Type.Optional(
  Type.String({
    pattern: '^[0-9]{1,3}$',
    description: `a whole number, 1 to ${LIMITS.forecastDays}`,
  }),
)

/** Default period: a week. */
const DEFAULT_DAYS = 7
const SOME_SCHEDULES = 50

/** Forecasts of what schedules will do. */
export function forecastRoutes(api: Api, { admin }: Pick<ApiOptions, 'admin'>): void {
  api.route({
    method: 'GET',
    url: '/v1/forecast',
    config: { list: true, permission: 'read', reference: { answers: { 200: 'Forecast' } } },
    schema: {
      summary: 'Forecast runs of schedules',
      querystring: fields({ days, job: Type.Optional(name()), limit: limitParameter }),
    },
    handler: (request) => {
      const { job, limit } = request.query
      return admin.forecaster.forecast(projectOf(request), {
        days: readCountParameter(request.query.days, 'days', LIMITS.forecastDays) ?? DEFAULT_DAYS,
        job,
        limit: readCountParameter(limit, 'limit', LIMITS.pageSize) ?? SOME_SCHEDULES,
      })
    },
  })
}
