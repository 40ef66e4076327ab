import { Type } from 'typebox'
import { LIMITS } from '../../../core/limits.ts'
import { SCHEDULE_STATES } from '../../../core/schedule/definition/schedule-views.ts'
import { parseTime } from '../../../core/wire/runs.ts'
import { projectOf } from '../http/access.ts'
import type { Administration } from '../../admin/administration.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { fields, name, oneOf, time } from '../../../core/schema/fields.ts'
import { checkInputAtOnce } from '../http/validation/input-check.ts'
import { cursorParameter, limitParameter, readCountParameter, readPaging } from '../http/request.ts'
import { SCHEDULE_URL, SchedulePathSchema } from './schedule-routes.ts'
import { PreviewSchema } from '../../../core/schema/schedule-schema.ts'

const Listing = fields({
  job: Type.Optional(name()),
  state: Type.Optional(oneOf(SCHEDULE_STATES)),
  limit: limitParameter,
  cursor: cursorParameter,
})
const Range = fields({
  from: Type.Optional(time()),
  until: Type.Optional(time()),
  limit: limitParameter,
  cursor: cursorParameter,
})

/** Default number of future times shown. */
const DEFAULT_TIMES = 5

/** Past and future times of schedules, and what became of them. */
export function occurrenceRoutes(api: Api, { admin }: Pick<ApiOptions, 'admin'>): void {
  projectRoutes(api, admin.scheduleReading)
  historyRoutes(api, admin.scheduleReading)
}

/** Schedules and times of the whole project. */
function projectRoutes(api: Api, reading: Administration['scheduleReading']): void {
  api.route({
    method: 'GET',
    url: '/v1/schedules',
    config: { list: true, permission: 'read', reference: { answers: { 200: 'SchedulePage' } } },
    schema: { summary: 'List schedules', querystring: Listing },
    handler: (request) => {
      const { job, state } = request.query
      return reading.list(projectOf(request), { ...readPaging(request.query), job, state })
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/schedules/next',
    config: { list: true, permission: 'read', reference: { answers: { 200: 'NextTimeList' } } },
    schema: {
      summary: 'List the next times of schedules',
      querystring: fields({ job: Type.Optional(name()), limit: limitParameter }),
    },
    handler: (request) => {
      const { job, limit } = request.query
      const count = readCountParameter(limit, 'limit', LIMITS.pageSize) ?? DEFAULT_TIMES
      return reading.next(projectOf(request), job, count)
    },
  })

  api.route({
    method: 'POST',
    url: '/v1/schedules/preview',
    config: {
      permission: 'read',
      reference: { answers: { 200: 'Preview' }, problems: ['invalid_schedule'] },
    },
    schema: { summary: 'Try a rule', body: PreviewSchema },
    handler: async (request) => {
      const { count = DEFAULT_TIMES, ...definition } = request.body
      checkInputAtOnce(definition.input, 'input')
      return reading.preview(projectOf(request), definition, count)
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/away',
    config: { list: true, permission: 'read', reference: { answers: { 200: 'Away' } } },
    schema: {
      summary: 'Summarize missed, skipped and late times',
      querystring: fields({ since: Type.Optional(time()) }),
    },
    handler: (request) => reading.away(projectOf(request), readTime(request.query.since, 'since')),
  })
}

/** The times of one schedule. */
function historyRoutes(api: Api, reading: Administration['scheduleReading']): void {
  const params = SchedulePathSchema

  api.route({
    method: 'GET',
    url: `${SCHEDULE_URL}/occurrences`,
    config: {
      list: true,
      permission: 'read',
      reference: { answers: { 200: 'OccurrencePage' }, problems: ['schedule_not_found'] },
    },
    schema: {
      summary: 'List the times of a schedule and their outcomes',
      params,
      querystring: Range,
    },
    handler: (request) => {
      const { name: job, schedule } = request.params
      const { from, until } = request.query
      const range = { from: readTime(from, 'from'), until: readTime(until, 'until') }
      const page = { ...readPaging(request.query), ...range }
      return reading.occurrences(projectOf(request), job, schedule, page)
    },
  })

  api.route({
    method: 'GET',
    url: `${SCHEDULE_URL}/why`,
    config: {
      list: true,
      permission: 'read',
      reference: { answers: { 200: 'ScheduleWhy' }, problems: ['schedule_not_found'] },
    },
    schema: { summary: 'Explain why a schedule fires or does not', params },
    handler: (request) => {
      const { name: job, schedule } = request.params
      return reading.why(projectOf(request), job, schedule)
    },
  })
}

function readTime(text: string | undefined, field: string): number | undefined {
  return text === undefined ? undefined : parseTime(text, field)
}
